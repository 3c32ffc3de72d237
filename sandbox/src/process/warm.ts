/*
 * The way into a sandbox takes five programs, one after the other. So one process is always sent ahead: it stands inside
 * and waits to be told what to become. It has no rights that the tenant does not have, it is in a group of its own as
 * every process of ours, and a tenant who ends it only makes his own next command wait for another.
 */
import type { ChildProcess } from 'node:child_process'
import type { Group } from './cgroup.ts'
import { neverMind } from './enter.ts'

/** Starting a process holds up the whole program for a moment: a short command shall have ended by then. */
const soonMs = 5

export interface Entered {
  child: ChildProcess
  group: Group
}

export interface Warm {
  /** Sends one ahead, unless one is there. */
  fill(): void
  /** The one that waits, or a new one; another is sent ahead soon after. */
  take(): Entered
  close(): void
}

/** @param idleMs When nobody took it for so long, the one that waits is let go. */
export function keepWarm(enter: () => Entered, idleMs = 30_000): Warm {
  let waiting: Entered | undefined
  let closed = false
  const letGo = () => {
    if (waiting !== undefined && usable(waiting)) dismiss(waiting)
    waiting = undefined
  }
  const timer = setTimeout(letGo, idleMs).unref()
  const fill = () => {
    if (closed || (waiting !== undefined && usable(waiting))) return
    try {
      waiting = enter()
      timer.refresh()
      waiting.child.on('error', () => undefined) // the next `take` sees that it has no number
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
      return one !== undefined && usable(one) ? one : enter()
    },
    close() {
      closed = true
      clearTimeout(timer)
      letGo()
    },
  }
}

/** It ends by itself when no order can come any more. */
function dismiss({ child, group }: Entered): void {
  child.once('exit', () => void group.remove().catch(() => undefined))
  neverMind(child)
}

const usable = ({ child }: Entered) => child.pid !== undefined && child.exitCode === null && child.signalCode === null
