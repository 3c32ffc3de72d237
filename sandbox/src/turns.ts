import { isSandboxId } from './inside.ts'

/** Runs one verb at a time for each sandbox, in the order they were asked. Rejects for what is no id of a sandbox. */
export function turns(): <T>(id: string, work: () => Promise<T>) => Promise<T> {
  const queues = new Map<string, Promise<unknown>>()
  return (id, work) => {
    if (!isSandboxId(id)) return Promise.reject(new Error(`not a sandbox id: ${JSON.stringify(id)}`))
    const turn = (queues.get(id) ?? Promise.resolve()).then(work, work)
    const settled = turn.catch(() => undefined).then(() => void (queues.get(id) === settled && queues.delete(id)))
    queues.set(id, settled)
    return turn
  }
}
