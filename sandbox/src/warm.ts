/*
 * The way into a sandbox is long: several programs one after the other, or an engine that is asked. So one process is
 * always sent ahead: it stands inside and waits to be told what to become. It has no rights that the tenant does not have,
 * and a tenant who ends it only makes his own next command wait for another.
 */

/** The next one takes a processor for a while: a short command shall have ended by then. */
const soonMs = 5

/** A process on its way in, or there and waiting. */
export interface Entrant {
  usable(): boolean
  /** It is not needed any more, and ends by itself. */
  dismiss(): void
}

export interface Warm<T extends Entrant> {
  /** Sends one ahead, unless one is there. */
  fill(): void
  /** The one that waits, or a new one; another is sent ahead soon after. */
  take(): T
  close(): void
}

/**
 * @param enter Throws when none can be made.
 * @param idleMs When nobody took it for so long, the one that waits is let go.
 */
export function keepWarm<T extends Entrant>(enter: () => T, idleMs = 30_000): Warm<T> {
  let waiting: T | undefined
  let closed = false
  const letGo = () => {
    if (waiting?.usable()) waiting.dismiss()
    waiting = undefined
  }
  const timer = setTimeout(letGo, idleMs).unref()
  const fill = () => {
    if (closed || waiting?.usable()) return
    try {
      waiting = enter()
      timer.refresh()
    } catch {
      waiting = undefined // whoever needs one is told why it cannot be made
    }
  }
  return {
    fill,
    take() {
      const one = waiting
      waiting = undefined
      setTimeout(fill, soonMs).unref()
      return one?.usable() ? one : enter()
    },
    close() {
      closed = true
      clearTimeout(timer)
      letGo()
    },
  }
}
