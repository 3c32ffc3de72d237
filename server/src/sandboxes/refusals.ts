import type { Outgoing } from '@parley/sandbox/egress'
import type { Clock } from '@parley/store/clock'

/*
 * Refusals of the way out, as news. A program that tries the same host again and again is told each time by the proxy; the
 * log of events has it once an hour, and of one sandbox at most so many.
 */

const hourMs = 3_600_000
const mostEach = 20
const mostSandboxes = 5_000

interface Parts {
  clock: Pick<Clock, 'millis'>
  tell: (sandboxId: string, detail: string) => void
}

export function refusals({ clock, tell }: Parts): (sandboxId: string, out: Outgoing, why: string) => void {
  const heard = new Map<string, { since: number; hosts: Set<string> }>()
  return (sandboxId, { host, port }, why) => {
    const now = clock.millis()
    for (const [id, { since }] of heard) {
      if (now - since < hourMs && heard.size <= mostSandboxes) break // the oldest stands first
      heard.delete(id)
    }
    const mine = heard.get(sandboxId) ?? { since: now, hosts: new Set() }
    heard.set(sandboxId, mine)
    const place = `${host}:${port}`
    if (mine.hosts.has(place) || mine.hosts.size > mostEach) return
    mine.hosts.add(place)
    if (mine.hosts.size > mostEach)
      return tell(sandboxId, 'Many more hosts were refused; for an hour only the proxy itself says which.')
    tell(sandboxId, `The network refused ${place}: ${why}`)
  }
}
