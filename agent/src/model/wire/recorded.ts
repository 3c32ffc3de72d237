import { EventStreamCodec } from '@smithy/eventstream-codec'
import { fromUtf8, toUtf8 } from '@smithy/util-utf8'

/*
 * Answers in the shape in which each provider gives them, down to the events that carry nothing: the same answer of a model
 * that thinks, says a sentence and calls a tool.
 */

/** A server-sent event, with a name where the wire has names. */
const sse = (data: unknown, name?: string): string =>
  `${name === undefined ? '' : `event: ${name}\n`}data: ${JSON.stringify(data)}\n\n`
const named = (events: readonly { type: string; [field: string]: unknown }[]): string[] =>
  events.map((event) => sse(event, event.type))

const anthropic = named([
  {
    type: 'message_start',
    message: {
      id: 'msg_01',
      type: 'message',
      role: 'assistant',
      model: 'claude-sonnet-4-5',
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: { input_tokens: 12, cache_creation_input_tokens: 100, cache_read_input_tokens: 900, output_tokens: 1 },
    },
  },
  { type: 'content_block_start', index: 0, content_block: { type: 'thinking', thinking: '', signature: '' } },
  { type: 'ping' },
  { type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: 'Let me ' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: 'look.' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'signature_delta', signature: 'c2lnbmVk' } },
  { type: 'content_block_stop', index: 0 },
  { type: 'content_block_start', index: 1, content_block: { type: 'redacted_thinking', data: 'YmxvYg==' } },
  { type: 'content_block_stop', index: 1 },
  { type: 'content_block_start', index: 2, content_block: { type: 'text', text: '' } },
  { type: 'content_block_delta', index: 2, delta: { type: 'text_delta', text: 'I look.' } },
  { type: 'content_block_stop', index: 2 },
  {
    type: 'content_block_start',
    index: 3,
    content_block: { type: 'tool_use', id: 'toolu_01', name: 'terminal', input: {} },
  },
  { type: 'content_block_delta', index: 3, delta: { type: 'input_json_delta', partial_json: '' } },
  { type: 'content_block_delta', index: 3, delta: { type: 'input_json_delta', partial_json: '{"comm' } },
  { type: 'content_block_delta', index: 3, delta: { type: 'input_json_delta', partial_json: 'and":"ls"}' } },
  { type: 'content_block_stop', index: 3 },
  { type: 'message_delta', delta: { stop_reason: 'tool_use', stop_sequence: null }, usage: { output_tokens: 50 } },
  { type: 'message_stop' },
])

const reasoningItem = { id: 'rs_1', type: 'reasoning', summary: [], encrypted_content: 'ZW5j' }
const callItem = {
  id: 'fc_1',
  type: 'function_call',
  call_id: 'call_1',
  name: 'terminal',
  arguments: '',
  status: 'in_progress',
}
const messageItem = { id: 'msg_1', type: 'message', role: 'assistant', status: 'in_progress', content: [] }
const response = {
  id: 'resp_1',
  object: 'response',
  created_at: 1_763_000_000,
  model: 'gpt-5',
  output: [],
  status: 'in_progress',
}
const openaiResponses = named(
  [
    { type: 'response.created', response },
    { type: 'response.in_progress', response },
    { type: 'response.output_item.added', output_index: 0, item: reasoningItem },
    {
      type: 'response.reasoning_summary_part.added',
      item_id: 'rs_1',
      output_index: 0,
      summary_index: 0,
      part: { type: 'summary_text', text: '' },
    },
    {
      type: 'response.reasoning_summary_text.delta',
      item_id: 'rs_1',
      output_index: 0,
      summary_index: 0,
      delta: 'Let me look.',
    },
    {
      type: 'response.reasoning_summary_text.done',
      item_id: 'rs_1',
      output_index: 0,
      summary_index: 0,
      text: 'Let me look.',
    },
    {
      type: 'response.reasoning_summary_part.done',
      item_id: 'rs_1',
      output_index: 0,
      summary_index: 0,
      part: { type: 'summary_text', text: 'Let me look.' },
    },
    {
      type: 'response.output_item.done',
      output_index: 0,
      item: { ...reasoningItem, summary: [{ type: 'summary_text', text: 'Let me look.' }] },
    },
    { type: 'response.output_item.added', output_index: 1, item: messageItem },
    {
      type: 'response.content_part.added',
      item_id: 'msg_1',
      output_index: 1,
      content_index: 0,
      part: { type: 'output_text', text: '', annotations: [] },
    },
    { type: 'response.output_text.delta', item_id: 'msg_1', output_index: 1, content_index: 0, delta: 'I look.' },
    { type: 'response.output_text.done', item_id: 'msg_1', output_index: 1, content_index: 0, text: 'I look.' },
    {
      type: 'response.output_item.done',
      output_index: 1,
      item: {
        ...messageItem,
        status: 'completed',
        content: [{ type: 'output_text', text: 'I look.', annotations: [] }],
      },
    },
    { type: 'response.output_item.added', output_index: 2, item: callItem },
    { type: 'response.function_call_arguments.delta', item_id: 'fc_1', output_index: 2, delta: '{"comm' },
    { type: 'response.function_call_arguments.delta', item_id: 'fc_1', output_index: 2, delta: 'and":"ls"}' },
    { type: 'response.function_call_arguments.done', item_id: 'fc_1', output_index: 2, arguments: '{"command":"ls"}' },
    {
      type: 'response.output_item.done',
      output_index: 2,
      item: { ...callItem, status: 'completed', arguments: '{"command":"ls"}' },
    },
    {
      type: 'response.completed',
      response: {
        ...response,
        status: 'completed',
        usage: {
          input_tokens: 1012,
          input_tokens_details: { cached_tokens: 900 },
          output_tokens: 50,
          output_tokens_details: { reasoning_tokens: 20 },
          total_tokens: 1062,
        },
      },
    },
  ].map((event, sequence_number) => ({ ...event, sequence_number })),
)

const chunk = (delta: object, finish_reason: string | null = null) =>
  sse({
    id: 'chatcmpl-1',
    object: 'chat.completion.chunk',
    created: 1_763_000_000,
    model: 'm',
    choices: [{ index: 0, delta, finish_reason, logprobs: null }],
  })
const call = (fn: object, more: object = {}) => ({ tool_calls: [{ index: 0, ...more, function: fn }] })
const chatUsage = {
  prompt_tokens: 1012,
  completion_tokens: 50,
  total_tokens: 1062,
  prompt_tokens_details: { cached_tokens: 900 },
  completion_tokens_details: { reasoning_tokens: 20 },
}

/** Chat completions; `thought` is what the wire calls the model's reasoning. */
const chat = (thought: Record<string, string> | null): string[] => [
  chunk({ role: 'assistant', content: '' }),
  ...(thought === null ? [] : [chunk(thought)]),
  chunk({ content: 'I ' }),
  chunk({ content: 'look.' }),
  chunk(call({ name: 'terminal', arguments: '' }, { id: 'call_1', type: 'function' })),
  chunk(call({ arguments: '{"comm' })),
  chunk(call({ arguments: 'and":"ls"}' })),
  chunk({}, 'tool_calls'),
  sse({
    id: 'chatcmpl-1',
    object: 'chat.completion.chunk',
    created: 1_763_000_000,
    model: 'm',
    choices: [],
    usage: chatUsage,
  }),
  'data: [DONE]\n\n',
]

const candidate = (parts: object[], more: object = {}) =>
  sse({
    candidates: [{ content: { parts, role: 'model' }, index: 0, ...more }],
    modelVersion: 'gemini-3-pro',
    responseId: 'r1',
  })
const gemini = [
  candidate([{ text: 'Let me look.', thought: true }]),
  candidate([{ text: 'I look.' }]),
  candidate([{ functionCall: { name: 'terminal', args: { command: 'ls' } }, thoughtSignature: 'dGhvdWdodA==' }]),
  sse({
    candidates: [{ content: { parts: [{ text: '' }], role: 'model' }, finishReason: 'STOP', index: 0 }],
    usageMetadata: {
      promptTokenCount: 1012,
      cachedContentTokenCount: 900,
      candidatesTokenCount: 30,
      thoughtsTokenCount: 20,
      totalTokenCount: 1062,
    },
    modelVersion: 'gemini-3-pro',
    responseId: 'r1',
  }),
]

const codec = new EventStreamCodec(toUtf8, fromUtf8)
const text = (value: string) => ({ type: 'string' as const, value })

/** One frame of a binary event stream. */
export const frame = (type: string, data: object, kind: 'event' | 'exception' = 'event'): Uint8Array =>
  codec.encode({
    headers: {
      [kind === 'event' ? ':event-type' : ':exception-type']: text(type),
      ':content-type': text('application/json'),
      ':message-type': text(kind),
    },
    body: fromUtf8(JSON.stringify({ ...data, p: 'abcdefgh' })),
  })
const block = (contentBlockIndex: number, delta: object) => frame('contentBlockDelta', { contentBlockIndex, delta })
const stop = (contentBlockIndex: number) => frame('contentBlockStop', { contentBlockIndex })
const bedrock = [
  frame('messageStart', { role: 'assistant' }),
  block(0, { reasoningContent: { text: 'Let me look.' } }),
  block(0, { reasoningContent: { signature: 'c2lnbmVk' } }),
  stop(0),
  block(1, { reasoningContent: { redactedContent: 'YmxvYg==' } }),
  stop(1),
  block(2, { text: 'I look.' }),
  stop(2),
  frame('contentBlockStart', {
    contentBlockIndex: 3,
    start: { toolUse: { toolUseId: 'tooluse_1', name: 'terminal' } },
  }),
  block(3, { toolUse: { input: '{"comm' } }),
  block(3, { toolUse: { input: 'and":"ls"}' } }),
  stop(3),
  frame('messageStop', { stopReason: 'tool_use' }),
  frame('metadata', {
    usage: {
      inputTokens: 12,
      outputTokens: 50,
      totalTokens: 1062,
      cacheReadInputTokens: 900,
      cacheWriteInputTokens: 100,
    },
    metrics: { latencyMs: 700 },
  }),
]

export const recorded = {
  anthropic,
  'openai responses': openaiResponses,
  'openai chat': chat(null),
  openrouter: [': OPENROUTER PROCESSING\n\n', ...chat({ reasoning: 'Let me look.' })],
  deepseek: chat({ reasoning_content: 'Let me look.' }),
  gemini,
  bedrock,
} satisfies Record<string, readonly (string | Uint8Array)[]>

export type Recorded = keyof typeof recorded
