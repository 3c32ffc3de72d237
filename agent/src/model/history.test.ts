import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { messagesDialect } from './anthropic.ts'
import type { LlmConfig } from './config.ts'
import { ask, calls, failure, modelAt, result, system, user } from './conformance.ts'
import { history } from './history.ts'
import type { Message } from './model.ts'
import { chatDialect } from './openai-compatible.ts'

/* What is sent is the same whether the earlier messages were kept as bytes or converted again. */

const picture = { type: 'image' as const, url: 'data:image/png;base64,iVBORw0KGgo=' }
const messages = fc.array(
  fc.oneof(
    fc.string().map((text) => user(`${text}!`)),
    fc.string().map((text): Message => ({ ...user(`${text}!`), cache: true })),
    fc.constant<Message>({ role: 'user', parts: [{ type: 'text', text: 'see' }, picture] }),
    fc.string().map((text): Message => ({ role: 'assistant', parts: [{ type: 'text', text: ` ${text}\\"[{ ` }] })),
    fc.constant<Message>({
      role: 'assistant',
      parts: [
        { type: 'reasoning', text: 'hm', signature: '{"item":"rs_1"}' },
        { type: 'reasoning', text: 'so', signature: '{"item":"rs_1","encrypted":"xyz"}' },
        { type: 'reasoning', text: 'ah', signature: 'c2ln' },
        { type: 'reasoning', text: '', redacted: 'blob' },
        { type: 'tool-call', id: 'q', name: 'terminal', arguments: '{"b":1,"2":[]}' },
      ],
    }),
    fc.constant(calls('a', 'b')),
    fc.string().map((text) => result('a', text)),
    fc.constant<Message>({
      role: 'tool',
      parts: [
        {
          type: 'tool-result',
          id: 'q',
          name: 'terminal',
          content: [{ type: 'text', text: 'x' }, picture],
          isError: false,
        },
      ],
    }),
    fc.constant(system('Later rules.')),
  ),
  { minLength: 1, maxLength: 14 },
)

const configs: LlmConfig[] = [
  { model: 'openai/local', base_url: 'http://127.0.0.1:1/v1', proxy_extra_body: { user: 'ada', messages: 'no' } },
  { model: 'deepseek/deepseek-chat', api_key: 'k', disable_vision: false },
  { model: 'openai/gpt-5', api_key: 'k' },
  { model: 'openai/gpt-4.1', api_key: 'k', api_mode: 'chat' },
  { model: 'anthropic/claude-sonnet-4-5', api_key: 'k' },
]

for (const config of configs) {
  test(`${config.model} ${config.api_mode ?? ''}: a growing history is sent byte for byte as if it were new`, async () => {
    await fc.assert(
      fc.asyncProperty(
        messages,
        fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 4, maxLength: 4 }),
        async (tail, steps) => {
          const sent: string[] = []
          const fetch = async (_url: unknown, init?: RequestInit) => {
            sent.push(Buffer.from(init?.body as Uint8Array).toString())
            return new Response('{}', { status: 500 })
          }
          const all = [system('Rules.'), user('Begin.'), ...tail]
          const growing = modelAt(config, { fetch })
          const marked = new Set<Message>() // each history's end is marked, in place, as the loop does
          for (let end = 2, i = 0; end <= all.length; end += steps[i++ % 4] ?? 1) {
            const last = all[end - 1]
            if (last !== undefined && !marked.has(last)) all[end - 1] = { ...last, cache: true }
            marked.add(all[end - 1] ?? last ?? user(''))
            await failure(ask(growing, all.slice(0, end)))
            await failure(ask(modelAt(config, { fetch }), all.slice(0, end)))
            const [kept, fresh] = sent.splice(0)
            assert.ok(fresh !== undefined && fresh.length > 50)
            assert.equal(kept, fresh)
          }
        },
      ),
      { numRuns: 120 },
    )
  })
}

test('a step converts the new messages only, and a changed history is converted again', () => {
  const first = [system('Rules.'), user('Begin.'), calls('a'), result('a')]
  const grown = [...first, calls('b'), result('b')]
  const after = (messages: Message[], cacheKey = 'c') => {
    const past = history(messagesDialect, true, true)
    const one = past.plan('c', first)
    assert.equal(one.from, 0)
    one.splice('{"messages":[{"n":1},{"n":2},{"n":3}]}')
    const two = past.plan('c', grown)
    assert.equal(two.from, 3)
    assert.equal(
      Buffer.from(two.splice('{"a":0,"messages":[{"n":3},{"n":4},{"n":5}]}')).toString(),
      '{"a":0,"messages":[{"n":1},{"n":2},{"n":3},{"n":4},{"n":5}]}',
    )
    return past.plan(cacheKey, messages).from
  }
  assert.equal(after([...grown, calls('c')]), 5)
  assert.equal(after([...grown.slice(0, 3), result('z'), calls('c')]), 3)
  assert.equal(after([system('Rules.'), ...grown.slice(1), calls('c')]), 0)
  assert.equal(after([...grown, calls('c')], 'other'), 0)
})

test('of two calls at once the second converts all, and what is kept is of the last one', () => {
  const past = history(messagesDialect, true, true)
  const first = [system('Rules.'), user('Begin.'), calls('a'), result('a')]
  past.plan('c', first).splice('{"messages":[{"n":1},{"n":2},{"n":3}]}')
  const one = past.plan('c', [...first, calls('b')])
  const other = past.plan('c', [...first.slice(0, 3), result('z'), calls('y')])
  assert.deepEqual([one.from, other.from], [3, 0])
  other.splice('{"messages":[{"n":1},{"n":2},{"z":3},{"z":4}]}')
  assert.equal(
    Buffer.from(one.splice('{"messages":[{"n":3},{"n":4}]}')).toString(),
    '{"messages":[{"n":1},{"n":2},{"n":3},{"n":4}]}',
  )
  assert.equal(past.plan('c', [...first, calls('b'), result('b')]).from, 4)
})

test('a batch of results is kept together, with the pictures that follow it', () => {
  const past = history(chatDialect, true, true)
  const shown: Message = {
    role: 'tool',
    parts: [{ type: 'tool-result', id: 'a', name: 'x', content: [picture], isError: false }],
  }
  const messages = [user('Begin.'), calls('a', 'b'), shown, result('b')]
  past.plan('c', messages).splice('{"messages":[1,2,3,4,5]}')
  const more = [...messages, calls('c')]
  const plan = past.plan('c', more)
  assert.equal(plan.from, 2)
  plan.splice('{"messages":[3,4,5,6]}')
  assert.equal(past.plan('c', [...more, result('c')]).from, 4)
})

test('markers that move with the end of a history leave all before them kept', () => {
  const past = history(messagesDialect, true, true)
  const messages: Message[] = [system('Rules.')]
  for (let step = 0; step < 12; step++) {
    messages.push(
      step === 0 ? user('Begin.') : calls(`${step}`),
      ...(step === 0 ? [] : [{ ...result(`${step}`), cache: true }]),
    )
    const { from, splice } = past.plan('c', messages)
    assert.ok(messages.length - from <= 9, `${messages.length - from} messages converted again at step ${step}`)
    const count = messages.length - Math.max(from, 1)
    splice(JSON.stringify({ messages: Array.from({ length: count }, (_, i) => from + i) }))
  }
})
