import type { Clock } from '@parley/store/clock'
import type { Log } from '../log.ts'
import { over } from './stop.ts'

/** Output of one call on its way to live viewers. */
export interface Live {
  push(text: string): void
  /** Sends what is left. */
  end(): void
}

const pieceLimit = 16 * 1024
const apartMs = 50

/**
 * The first piece goes at once, the next ones at least 50 ms apart and at most 16 KiB long. When more comes than that, the
 * newest is kept and the offset (in characters of the whole output) jumps: a viewer sees that something is missing.
 */
export function liveOutput(log: Log, clock: Clock, names: { tool_call_id: string; action_id: string }): Live {
  let waiting = ''
  let offset = 0
  let resting = false
  const ended = new AbortController()

  const send = () => {
    if (waiting === '') return
    log.publish({ kind: 'ToolOutputDelta', ...names, offset, content: waiting })
    offset += waiting.length
    waiting = ''
  }
  const rest = () => {
    resting = true
    clock.sleep(apartMs, ended.signal).then(
      () => {
        resting = false
        if (waiting !== '') go()
      },
      () => {},
    )
  }
  const go = () => {
    send()
    rest()
  }
  return {
    push(text) {
      waiting += text
      if (waiting.length > pieceLimit) {
        offset += waiting.length - pieceLimit
        waiting = waiting.slice(-pieceLimit)
      }
      if (!resting) go()
    },
    end() {
      ended.abort(over)
      send()
    },
  }
}
