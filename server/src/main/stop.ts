import { setTimeout as sleep } from 'node:timers/promises'
import type { Log } from '../log.ts'

/** How long a stop may take: what is not done by then is handed to the next start. */
const graceMs = 8_000
/** And how long, with all that is let go of after that. */
const wholeMs = 18_000

interface Stoppable {
  close(graceMs: number): Promise<void>
}

/** Resolves with whether the server has stopped in time. What it still holds then is cut off with the process. */
export async function stopInTime(server: Stoppable, log: Pick<Log, 'error'>, ms = wholeMs): Promise<boolean> {
  const over = new AbortController()
  const late = sleep(ms, false, { signal: over.signal })
  late.catch(() => {})
  try {
    const stopped = await Promise.race([server.close(graceMs).then(() => true), late])
    if (!stopped) log.error({ ms }, 'The server did not stop in time; what it still does is cut off.')
    return stopped
  } finally {
    over.abort()
  }
}
