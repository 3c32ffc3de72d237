import type { Clock } from '@parley/store/clock'
import type { Log } from '../log.ts'
import { over } from './stop.ts'

/** Output of one call on its way to live viewers. */
export interface Live {
  push(text: string): void
  /** Sends what is left, if any was sent: who saw the beginning sees the end too. */
  end(): void
}

const pieceLimit = 16 * 1024
const apartMs = 50
/** A call that is over by then has a result, which says it all. Nobody sees a delay as short. */
const soonMs = 20

/**
 * The first piece goes soon, the next ones at least 50 ms apart and at most 16 KiB long. When more comes than that, the
 * newest is kept and the offset (in characters of the whole output) jumps: a viewer sees that something is missing.
 */
export function liveOutput(log: Log, clock: Clock, names: { tool_call_id: string; action_id: string }): Live {
  let waiting = ''
  let offset = 0
  let shown = false
  let resting = false
  const ended = new AbortController()

  const send = () => {
    if (waiting === '') return
    shown = true
    log.publish({ kind: 'ToolOutputDelta', ...names, offset, content: waiting })
    offset += waiting.length
    waiting = ''
  }
  const rest = (ms: number) => {
    resting = true
    clock.sleep(ms, ended.signal).then(
      () => {
        resting = false
        if (waiting === '') return
        send()
        rest(apartMs)
      },
      () => {},
    )
  }
  return {
    push(text) {
      waiting += text
      if (waiting.length > pieceLimit) {
        offset += waiting.length - pieceLimit
        waiting = waiting.slice(-pieceLimit)
      }
      if (!resting) rest(soonMs)
    },
    end() {
      ended.abort(over)
      if (shown) send()
    },
  }
}
