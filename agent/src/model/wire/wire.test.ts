import assert from 'node:assert/strict'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, test } from 'node:test'
import type { LlmConfig } from '../config.ts'
import { ask, failure, modelAt, result, system, user } from '../conformance.ts'
import type { Message, ModelPart, Part } from '../model.ts'
import { frame, recorded, type Recorded } from './recorded.ts'

/* Each provider over real HTTP, answering as it was seen to answer: what comes out, and what goes back with the next step. */

const key = 'sk-0123456789abcdef'
const cloud = { cloud_region_name: 'us-east-1', cloud_access_key_id: 'AKIAOWN0123', cloud_secret_access_key: key }
const configs: Record<Recorded, (url: string) => LlmConfig> = {
  anthropic: (base_url) => ({ model: 'anthropic/claude-sonnet-4-5', base_url, api_key: key }),
  'openai responses': (url) => ({ model: 'openai/gpt-5', base_url: `${url}/v1`, api_key: key, api_mode: 'responses' }),
  'openai chat': (url) => ({ model: 'openai/gpt-4.1', base_url: `${url}/v1`, api_key: key, api_mode: 'chat' }),
  openrouter: (url) => ({
    model: 'openrouter/z/glm',
    base_url: `${url}/v1`,
    api_key: key,
    router_site_url: 'https://me.example',
    router_app_name: 'Mine',
  }),
  deepseek: (url) => ({ model: 'deepseek/deepseek-chat', base_url: `${url}/v1`, api_key: key }),
  gemini: (url) => ({ model: 'gemini/gemini-3-pro-preview', base_url: `${url}/v1beta`, api_key: key }),
  bedrock: (url) => ({ model: 'bedrock/anthropic.claude-sonnet-4-5-v1:0', ...cloud, cloud_runtime_endpoint: url }),
}

interface Request {
  url: string
  headers: IncomingMessage['headers']
  body: Record<string, unknown>
}

/** What the server does with the next request. */
type Answer = (response: ServerResponse) => void

const requests: Request[] = []
let answer: Answer = (response) => void response.end()
const server = createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    const body = JSON.parse(Buffer.concat(chunks).toString('utf8')) as Record<string, unknown>
    requests.push({ url: request.url ?? '', headers: request.headers, body })
    answer(response)
  })
})
let url = ''
before(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
after(() => server.close())

const typeOf = (provider: Recorded) =>
  provider === 'bedrock' ? 'application/vnd.amazon.eventstream' : 'text/event-stream'

/** Plays the pieces, each on its own; `cut`: the connection breaks after so many. */
const plays =
  (provider: Recorded, pieces: readonly (string | Uint8Array)[], cut: boolean = false): Answer =>
  (response) => {
    response.writeHead(200, { 'content-type': typeOf(provider), 'x-amzn-requestid': 'r-1' })
    for (const piece of pieces) response.write(piece)
    if (cut) response.write('', () => setTimeout(() => response.destroy(), 20))
    else response.end()
  }
const says =
  (status: number, body: object, headers: Record<string, string> = {}): Answer =>
  (response) =>
    void response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))

const opening = [system('You are careful.'), user('Do it.')]
const asked = (provider: Recorded, messages: readonly Message[] = opening) =>
  ask(modelAt(configs[provider](url), { limits: { idleMs: 2_000, thinkMs: 2_000 } }), messages)

/** The answer as the next request has it in its history. */
function answered(parts: readonly ModelPart[]): Message {
  const said: Part[] = []
  let thought = ''
  for (const part of parts) {
    if (part.type === 'reasoning') thought += part.text
    if (part.type === 'reasoning-end') said.push({ ...part, type: 'reasoning', text: thought })
    if (part.type === 'reasoning-end') thought = ''
    if (part.type === 'text' || part.type === 'tool-call') said.push(part)
  }
  return { role: 'assistant', parts: said }
}

const thinks: ReadonlySet<Recorded> = new Set([
  'anthropic',
  'openai responses',
  'openrouter',
  'deepseek',
  'gemini',
  'bedrock',
])
const counts = { prompt_tokens: 1012, completion_tokens: 50, cache_read_tokens: 900 }

/** What must be in the request that follows: the reasoning in the provider's own form. */
const replayed: Partial<Record<Recorded, object[]>> = {
  anthropic: [
    { type: 'thinking', thinking: 'Let me look.', signature: 'c2lnbmVk' },
    { type: 'redacted_thinking', data: 'YmxvYg==' },
    { type: 'tool_use', id: 'toolu_01', name: 'terminal', input: { command: 'ls' } },
  ],
  'openai responses': [
    {
      type: 'reasoning',
      id: 'rs_1',
      encrypted_content: 'ZW5j',
      summary: [{ type: 'summary_text', text: 'Let me look.' }],
    },
  ],
  deepseek: [{ reasoning_content: 'Let me look.' }],
  gemini: [{ thoughtSignature: 'dGhvdWdodA==' }],
  bedrock: [
    { reasoningContent: { reasoningText: { text: 'Let me look.', signature: 'c2lnbmVk' } } },
    { reasoningContent: { redactedContent: 'YmxvYg==' } },
    { toolUse: { toolUseId: 'tooluse_1', name: 'terminal', input: { command: 'ls' } } },
  ],
}

/** Whether `wanted` stands somewhere in `json`: an object with at least these members. */
function holds(json: unknown, wanted: object): boolean {
  if (typeof json !== 'object' || json === null) return false
  const matches = Object.entries(wanted).every(
    ([name, value]) => JSON.stringify((json as Record<string, unknown>)[name]) === JSON.stringify(value),
  )
  return matches || Object.values(json).some((inner) => holds(inner, wanted))
}

for (const provider of Object.keys(recorded) as Recorded[]) {
  describe(provider, () => {
    test('an answer that thinks, speaks and calls comes out whole, and its usage in our terms', async () => {
      answer = plays(provider, recorded[provider])
      const parts = await asked(provider)
      const of = (type: 'text' | 'reasoning') => parts.map((part) => (part.type === type ? part.text : '')).join('')
      assert.equal(of('text'), 'I look.')
      assert.equal(of('reasoning'), thinks.has(provider) ? 'Let me look.' : '')
      const call = parts.find((part) => part.type === 'tool-call')
      assert.ok(call?.type === 'tool-call' && call.name === 'terminal')
      assert.deepEqual(JSON.parse(call.arguments), { command: 'ls' })
      const finish = parts.at(-1)
      assert.ok(finish?.type === 'finish' && finish.reason === 'tools' && finish.responseId !== '')
      const { prompt_tokens, completion_tokens, cache_read_tokens } = finish.usage
      assert.deepEqual({ prompt_tokens, completion_tokens, cache_read_tokens }, counts)
    })

    test('the reasoning goes back with the next step, as the provider wants it', async () => {
      answer = plays(provider, recorded[provider])
      const first = await asked(provider)
      const call = first.find((part) => part.type === 'tool-call')
      assert.ok(call?.type === 'tool-call')
      requests.length = 0
      await asked(provider, [...opening, answered(first), result(call.id, 'a file')])
      const [sent] = requests
      for (const wanted of replayed[provider] ?? []) assert.ok(holds(sent?.body, wanted), JSON.stringify(sent?.body))
      assert.match(JSON.stringify(sent?.body), /a file/)
    })

    test('half an answer is a transient failure, and no call of it is given out', async () => {
      const pieces = recorded[provider]
      for (const upTo of [1, Math.floor(pieces.length / 2), pieces.length - (provider === 'bedrock' ? 2 : 3)]) {
        for (const cut of [true, false]) {
          answer = plays(provider, pieces.slice(0, Math.max(1, upTo)), cut)
          const error = await failure(asked(provider))
          assert.equal(error.kind, 'transient', `${upTo} pieces, cut ${cut}: ${error.message}`)
        }
      }
    })

    test('a refused key, a limit and an outage are told apart, without the key', async () => {
      for (const [given, kind] of refusals[provider] ?? usual) {
        answer = given
        const error = await failure(asked(provider))
        assert.equal(error.kind, kind, error.message)
        assert.ok(!error.message.includes(key))
      }
    })
  })
}

const chatError = (status: number, type: string, message: string, headers?: Record<string, string>) =>
  says(status, { error: { message, type, param: null, code: type } }, headers)
const usual: [Answer, string][] = [
  [chatError(401, 'invalid_api_key', `Incorrect API key provided: ${key}.`), 'auth'],
  [chatError(429, 'rate_limit_exceeded', 'Rate limit reached', { 'retry-after': '2' }), 'rate_limit'],
  [chatError(429, 'insufficient_quota', 'You exceeded your current quota'), 'quota'],
  [chatError(500, 'server_error', 'The server had an error'), 'transient'],
  [chatError(503, 'server_error', 'The engine is currently overloaded'), 'overloaded'],
  [chatError(400, 'context_length_exceeded', "This model's maximum context length is 8192 tokens"), 'context_overflow'],
]
const claudeError = (status: number, type: string, message: string) =>
  says(status, { type: 'error', error: { type, message }, request_id: 'req_1' })
const googleError = (code: number, status: string, message: string) =>
  says(code, { error: { code, message, status, details: [] } })
const amazonError = (status: number, type: string, message: string) =>
  says(status, { message }, { 'x-amzn-errortype': type })
const refusals: Partial<Record<Recorded, [Answer, string][]>> = {
  anthropic: [
    [claudeError(401, 'authentication_error', 'invalid x-api-key'), 'auth'],
    [claudeError(429, 'rate_limit_error', 'This request would exceed your rate limit'), 'rate_limit'],
    [claudeError(400, 'invalid_request_error', 'Your credit balance is too low'), 'quota'],
    [claudeError(529, 'overloaded_error', 'Overloaded'), 'overloaded'],
    [
      claudeError(400, 'invalid_request_error', 'prompt is too long: 210000 tokens > 200000 maximum'),
      'context_overflow',
    ],
    [
      plays('anthropic', [
        ...recorded.anthropic.slice(0, 4),
        'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}\n\n',
      ]),
      'overloaded',
    ],
  ],
  gemini: [
    [googleError(400, 'INVALID_ARGUMENT', 'API key not valid. Please pass a valid API key.'), 'auth'],
    [googleError(403, 'PERMISSION_DENIED', 'The caller does not have permission'), 'auth'],
    [googleError(429, 'RESOURCE_EXHAUSTED', 'Resource has been exhausted'), 'rate_limit'],
    [googleError(503, 'UNAVAILABLE', 'The model is overloaded. Please try again later.'), 'overloaded'],
    [
      googleError(400, 'INVALID_ARGUMENT', 'The input token count (2000000) exceeds the maximum number of tokens'),
      'context_overflow',
    ],
  ],
  bedrock: [
    [amazonError(403, 'UnrecognizedClientException', 'The security token included in the request is invalid.'), 'auth'],
    [amazonError(429, 'ThrottlingException', 'Too many requests, please wait before trying again.'), 'rate_limit'],
    [amazonError(503, 'ServiceUnavailableException', 'Bedrock is unable to process your request.'), 'overloaded'],
    [amazonError(400, 'ValidationException', 'Input is too long for requested model.'), 'context_overflow'],
    [
      plays('bedrock', [
        ...recorded.bedrock.slice(0, 2),
        frame('throttlingException', { message: 'Too many tokens' }, 'exception'),
      ]),
      'rate_limit',
    ],
  ],
}

test('a router is told whose request it is, and bedrock gets one that is signed', async () => {
  requests.length = 0
  answer = plays('openrouter', recorded.openrouter)
  await asked('openrouter')
  answer = plays('bedrock', recorded.bedrock)
  await asked('bedrock')
  const [router, amazon] = requests
  assert.deepEqual([router?.headers['http-referer'], router?.headers['x-title']], ['https://me.example', 'Mine'])
  assert.match(String(amazon?.headers.authorization), /^AWS4-HMAC-SHA256 Credential=AKIAOWN0123\//)
  assert.equal(amazon?.url, '/model/anthropic.claude-sonnet-4-5-v1%3A0/converse-stream')
  assert.equal(JSON.stringify(amazon.body).split('cachePoint').length - 1, 2)
})

test('bedrock is told how hard to think', async () => {
  requests.length = 0
  answer = plays('bedrock', recorded.bedrock)
  const config = { ...configs.bedrock(url), reasoning_effort: 'high', max_output_tokens: 8000 }
  await ask(modelAt(config), opening)
  assert.match(JSON.stringify(requests[0]?.body), /thinking|reasoning/)
})

test('figures of a provider that cannot be counts of tokens count as none', async () => {
  const said = { choices: [{ index: 0, delta: { content: 'Hi.' }, finish_reason: 'stop' }] }
  const usage = { prompt_tokens: -5, completion_tokens: 1e308, total_tokens: 12 }
  const pieces = [said, { choices: [], usage }].map(
    (one) => `data: ${JSON.stringify({ id: 'c', created: 1, model: 'm', ...one })}\n\n`,
  )
  answer = plays('deepseek', [...pieces, 'data: [DONE]\n\n'])
  const finish = (await asked('deepseek')).find((part) => part.type === 'finish')
  assert.deepEqual([finish?.usage.prompt_tokens, finish?.usage.completion_tokens], [0, 0])
})
