import type { Masker } from '@parley/agent/mask'
import type { Delta } from '@parley/contract/events'
import type { Live } from '../live.ts'

/** One stream on its way out. Hiding holds text back and changes its length, so what was shown is counted apart. */
interface Stream {
  mask: ReturnType<Masker['stream']>
  /** Where the next piece begins when none is missing, in characters of what came in. */
  expected: number
  /** Characters that viewers have been shown, or told that they miss. */
  shown: number
}

/** Streams of one conversation at a time; older ones are over. */
const mostStreams = 16

/** Deltas on their way to viewers, with secrets hidden also where the edge of a chunk falls into one. */
export function maskedDeltas(live: Live, conversation: string, mask: Masker): (delta: Delta) => void {
  const streams = new Map<string, Stream>()

  function streamOf(key: string, offset: number): Stream {
    const known = streams.get(key)
    if (known !== undefined && known.expected === offset) return known
    // Something is missing before this piece: what was held back of the text before it does not belong to it.
    const fresh = { mask: mask.stream(), expected: offset, shown: Math.max(known?.shown ?? 0, offset) }
    streams.set(key, fresh)
    const oldest = streams.size > mostStreams ? streams.keys().next().value : undefined
    if (oldest !== undefined) streams.delete(oldest)
    return fresh
  }

  function hidden(key: string, offset: number, text: string): { offset: number; content: string } {
    const stream = streamOf(key, offset)
    const content = stream.mask.push(text)
    const at = stream.shown
    stream.expected += text.length
    stream.shown += content.length
    return { offset: at, content }
  }

  return (delta) => {
    if (!live.watched(conversation)) return
    const reasons = delta.kind === 'StreamingDeltaEvent' && delta.content === null
    const stream = delta.kind === 'ToolOutputDelta' ? delta.tool_call_id : `${delta.response_id}/${delta.attempt}`
    const text = reasons ? delta.reasoning_content : delta.content
    const { offset, content } = hidden(`${reasons ? 'r' : 't'}${stream}`, delta.offset, text ?? '')
    if (content === '') return
    live.publish(conversation, { ...delta, offset, ...(reasons ? { reasoning_content: content } : { content }) })
  }
}
