import type { Who } from '@parley/contract/endpoint'
import type { AccessStore } from './store.ts'

/*
 * Calls that last (streams, sockets) must not outlive the key or session that opened them. All that are open in this process
 * are looked at together, in one read: when something was revoked somewhere, and every two seconds, which also finds what
 * has expired.
 */

const everyMs = 2_000

export type Lasting = ReturnType<typeof lastingCalls>

interface Open {
  kind: 'key' | 'session'
  id: string
  ends: Set<() => void>
}

export function lastingCalls({
  store,
  log,
}: {
  store: AccessStore
  log: (message: string, details: Record<string, unknown>) => void
}) {
  const open = new Map<string, Open>()
  let timer: NodeJS.Timeout | undefined
  let looking: Promise<void> | undefined
  let again = false

  async function look(): Promise<void> {
    const asked = [...open]
    const good = await store.stillGood(asked.map(([, { kind, id }]) => ({ kind, id })))
    for (const [name, { ends }] of asked) if (!good.has(name)) for (const end of ends) end()
  }

  /** A database that is away ends nobody's call. */
  async function lookUntilSeen(): Promise<void> {
    do {
      again = false
      await look().catch((error: unknown) => log('open calls could not be looked at', { err: error }))
    } while (again)
    looking = undefined
  }

  function check(): void {
    if (open.size === 0) return
    again = true
    looking ??= lookUntilSeen()
  }

  return {
    check,

    /** Calls `end` once the caller's key or session is void. Gives a function that ends the watch. */
    watch({ kind, id }: Who, end: () => void): () => void {
      if (kind !== 'key' && kind !== 'session') return () => undefined
      const name = `${kind} ${id}`
      const entry = open.get(name) ?? { kind, id, ends: new Set() }
      open.set(name, entry)
      entry.ends.add(end)
      timer ??= setInterval(check, everyMs)
      return () => {
        entry.ends.delete(end)
        if (entry.ends.size === 0 && open.get(name) === entry) open.delete(name)
        if (open.size > 0) return
        clearInterval(timer)
        timer = undefined
      }
    },
  }
}
