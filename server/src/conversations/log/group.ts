import type { Appended, HeadChange, LogStore, NewEventRow } from './store.ts'

/*
 * Group commit: appends of all the runs in this process that come while one commit is under way go together in the next, in
 * one statement. One run alone waits for nobody; many at once share the cost of a commit. What fails together is tried
 * apart, so that one run's trouble is not everybody's.
 */

export type AppendFenced = LogStore['appendFenced']

interface Waiting extends Appended {
  done: PromiseWithResolvers<number | undefined>
}

/** Runs that go into one statement at most. */
const most = 64
/** Statements under way at once. */
const writers = 2

export function groupedAppends(store: Pick<LogStore, 'appendMany'>): AppendFenced {
  let queue: Waiting[] = []
  let writing = 0

  async function write(): Promise<void> {
    writing += 1
    while (queue.length > 0) {
      const group = queue.slice(0, most)
      queue = queue.slice(most)
      await commit(group)
    }
    writing -= 1
  }

  async function commit(group: Waiting[]): Promise<void> {
    try {
      const bases = await store.appendMany(group)
      for (const one of group) one.done.resolve(bases.get(one.conversation))
    } catch (error) {
      const [only] = group
      if (group.length === 1) return only?.done.reject(error)
      for (const one of group) await commit([one])
    }
  }

  return (conversation: string, epoch: number, events: readonly NewEventRow[], change: HeadChange = {}) => {
    const done = Promise.withResolvers<number | undefined>()
    queue.push({ conversation, epoch, events, change, done })
    if (writing < writers) void write()
    return done.promise
  }
}
