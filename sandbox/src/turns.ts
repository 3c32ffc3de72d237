/** Runs one piece of work at a time for each key, in the order they were asked for. */
export function turns(): <T>(key: string, work: () => Promise<T>) => Promise<T> {
  const queues = new Map<string, Promise<unknown>>()
  return (key, work) => {
    const turn = (queues.get(key) ?? Promise.resolve()).then(work, work)
    const settled = turn.catch(() => undefined).then(() => void (queues.get(key) === settled && queues.delete(key)))
    queues.set(key, settled)
    return turn
  }
}
