import type { Masker } from '@parley/agent/mask'
import type { Delta } from '@parley/contract/events'
import type { Live } from '../live.ts'

type Stream = ReturnType<Masker['stream']>

/** Streams of one conversation at a time; older ones are over. */
const mostStreams = 16

/** Deltas on their way to viewers, with secrets hidden also where the edge of a chunk falls into one. */
export function maskedDeltas(live: Live, conversation: string, mask: Masker): (delta: Delta) => void {
  const streams = new Map<string, Stream>()
  const hide = (key: string, text: string | null): string | null => {
    if (text === null) return null
    const stream = streams.get(key) ?? mask.stream()
    streams.set(key, stream)
    const oldest = streams.size > mostStreams ? streams.keys().next().value : undefined
    if (oldest !== undefined) streams.delete(oldest)
    return stream.push(text)
  }
  return (delta) => {
    if (!live.watched(conversation)) return
    if (delta.kind === 'ToolOutputDelta') {
      live.publish(conversation, { ...delta, content: hide(`o${delta.tool_call_id}`, delta.content) ?? '' })
      return
    }
    live.publish(conversation, {
      ...delta,
      content: hide(`t${delta.response_id}/${delta.attempt}`, delta.content),
      reasoning_content: hide(`r${delta.response_id}/${delta.attempt}`, delta.reasoning_content),
    })
  }
}
