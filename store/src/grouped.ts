/*
 * Group commit: what comes while one commit is under way goes together in the next, in one statement. Who comes alone waits
 * for nobody; many at once share the cost of a commit. What fails together is tried apart, so that the trouble of one is not
 * everybody's.
 */

interface Waiting<T, R> {
  one: T
  done: PromiseWithResolvers<R>
}

/** What goes into one statement at most. */
const most = 64
/** Statements under way at once. */
const writers = 2

/**
 * Not for use within `atOnce`: whoever waits is in one transaction with the others.
 * @param write Commits all of them or none; answers in their order.
 */
export function grouped<T, R>(write: (group: readonly T[]) => Promise<readonly R[]>): (one: T) => Promise<R> {
  let queue: Waiting<T, R>[] = []
  let writing = 0

  async function work(): Promise<void> {
    writing += 1
    while (queue.length > 0) {
      const group = queue.slice(0, most)
      queue = queue.slice(most)
      await commit(group)
    }
    writing -= 1
  }

  async function commit(group: readonly Waiting<T, R>[]): Promise<void> {
    try {
      const answers = await write(group.map(({ one }) => one))
      // `write` answers every one.
      group.forEach(({ done }, index) => done.resolve(answers[index] as R))
    } catch (error) {
      const [only] = group
      if (group.length === 1) return only?.done.reject(error)
      for (const one of group) await commit([one])
    }
  }

  return (one) => {
    const done = Promise.withResolvers<R>()
    queue.push({ one, done })
    if (writing < writers) void work()
    return done.promise
  }
}
