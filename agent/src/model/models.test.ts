import assert from 'node:assert/strict'
import { test } from 'node:test'
import { outbound } from '@parley/wire/outbound'
import { OutboundRefused } from '@parley/wire/refused'
import { catalogue } from './catalogue.ts'
import type { LlmConfig } from './config.ts'
import { ask, calls, failure, modelAt, result, system, user } from './conformance.ts'
import type { Message, ModelRequest } from './model.ts'

const usage = {
  prompt_tokens: 1000,
  completion_tokens: 50,
  cache_read_tokens: 800,
  cache_write_tokens: 0,
  reasoning_tokens: 0,
}

/** The body and headers that a configuration sends. */
async function sent(config: LlmConfig, messages: readonly Message[] = [user('Hi.')], more: Partial<ModelRequest> = {}) {
  const seen: { url: string; body: Record<string, unknown>; headers: Headers }[] = []
  const fetch = async (url: string | URL | Request, init?: RequestInit) => {
    const body = JSON.parse(Buffer.from(init?.body as Uint8Array).toString())
    seen.push({ url: String(url), body, headers: new Headers(init?.headers) })
    return new Response('{}', { status: 500 })
  }
  await failure(ask(modelAt({ api_key: 'k', ...config }, { fetch }), messages, more))
  const [first] = seen
  assert.ok(first)
  return first
}

test('what a call costs counts cached tokens at their own price', () => {
  const cost = modelAt({ model: 'openai/gpt-5' }).cost(usage)
  assert.ok(cost !== null && Math.abs(cost - 0.00085) < 1e-9)
  const written = { ...usage, cache_read_tokens: 0, cache_write_tokens: 1000, completion_tokens: 0 }
  const anthropic = modelAt({ model: 'anthropic/claude-sonnet-4-5' }).cost(written)
  assert.ok(anthropic !== null && Math.abs(anthropic - 0.00375) < 1e-9)
})

test('own prices go before the table, and a model without a price has no cost rather than none to pay', () => {
  const config = { model: 'openai/gpt-5', input_cost_per_token: 0.001, output_cost_per_token: 0.01 }
  assert.equal(modelAt(config).cost(usage), 1.5)
  assert.equal(modelAt({ model: 'ollama/llama3' }).cost(usage), null)
  assert.equal(modelAt({ model: 'openai/never-heard-of' }).cost(usage), null)
})

test('an alias is priced and judged as the model it stands for', () => {
  const alias = modelAt({
    model: 'litellm_proxy/team',
    base_url: 'http://127.0.0.1:1',
    model_canonical_name: 'openai/gpt-5',
  })
  assert.equal(alias.cost(usage), modelAt({ model: 'openai/gpt-5' }).cost(usage))
  assert.equal(alias.contextWindow, 400_000)
  assert.equal(alias.vision, true)
})

test('the size of the context and vision can be set', () => {
  const model = modelAt({ model: 'openai/gpt-5', max_input_tokens: 5000, disable_vision: true })
  assert.equal(model.contextWindow, 5000)
  assert.equal(model.vision, false)
})

test('a model that cannot be had says what is missing, when it is called', async () => {
  const kinds = async (config: LlmConfig) => (await failure(ask(modelAt(config), [user('Hi.')]))).kind
  assert.equal(await kinds({ model: 'nobody/nothing' }), 'config')
  assert.equal(await kinds({ model: 'vllm/qwen' }), 'config')
  assert.equal(await kinds({ model: 'openai/gpt-5', api_key: '' }), 'auth')
  assert.equal(await kinds({ model: 'openai/gpt-5', api_key: 'k', reasoning_effort: 'huge' }), 'config')
  assert.equal(await kinds({ model: 'vllm/qwen', base_url: 'nowhere' }), 'config')
})

test('an address that may not be dialled is a matter of the configuration, an answer that is none may pass', async () => {
  const way = outbound()
  const here = { model: 'openai/gpt-5', api_key: 'k', base_url: 'http://127.0.0.1:9/v1' }
  const refused = await failure(ask(modelAt(here, { fetch: way.fetch as unknown as typeof fetch }), [user('Hi.')]))
  assert.equal(refused.kind, 'config')
  assert.match(refused.message, /must not be dialled/)
  const garbled = () => Promise.reject(new OutboundRefused('not_http', 'the answer is not HTTP'))
  assert.equal((await failure(ask(modelAt(here, { fetch: garbled }), [user('Hi.')]))).kind, 'transient')
  await way.close()
})

test('a name without a provider goes to the base URL, or to the provider that it tells', async () => {
  assert.equal(
    (await sent({ model: 'my-model', base_url: 'http://127.0.0.1:1/v1/' })).url,
    'http://127.0.0.1:1/v1/chat/completions',
  )
  assert.equal((await sent({ model: 'claude-sonnet-4-5' })).url, 'https://api.anthropic.com/v1/messages')
  assert.equal((await sent({ model: 'gpt-5' })).url, 'https://api.openai.com/v1/responses')
  const nested = await sent({ model: 'openrouter/qwen/qwen3-coder' })
  assert.equal(nested.body['model'], 'qwen/qwen3-coder')
})

test('azure is asked for its deployment and version, with its own header', async () => {
  const { url, headers } = await sent({ model: 'azure/mine', base_url: 'https://x.example', api_version: '2025-01-01' })
  assert.equal(url, 'https://x.example/openai/deployments/mine/chat/completions?api-version=2025-01-01')
  assert.equal(headers.get('api-key'), 'k')
  assert.equal(headers.get('authorization'), null)
})

test('the settings of a model reach its provider', async () => {
  const common = {
    temperature: 0.5,
    top_p: 0.9,
    top_k: 40,
    seed: 7,
    proxy_extra_body: { tier: 'gold', model: 'other' },
  }
  const chat = await sent({ model: 'vllm/q', base_url: 'http://127.0.0.1:1', reasoning_effort: 'low', ...common })
  const { temperature, top_p, top_k, seed, tier, model, reasoning_effort, max_tokens } = chat.body
  assert.deepEqual(
    { temperature, top_p, top_k, seed, tier, model, reasoning_effort, max_tokens },
    {
      temperature: 0.5,
      top_p: 0.9,
      top_k: 40,
      seed: 7,
      tier: 'gold',
      model: 'q',
      reasoning_effort: 'low',
      max_tokens: 1000,
    },
  )
})

test('a text longer than the settings allow is sent without its middle, and the prompt of the system whole', async () => {
  const long = 'x'.repeat(1000)
  const config = { model: 'vllm/q', base_url: 'http://127.0.0.1:1', max_message_chars: 200 }
  const { body } = await sent(config, [system(long), user(long), calls('a'), result('a', long)])
  const [first, ...others] = (body['messages'] as { role: string; content: string | null }[]).filter(
    ({ role }) => role !== 'assistant',
  )
  assert.equal(first?.content, long)
  for (const { content } of others) assert.ok((content?.length ?? 0) < 400, content ?? '')
})

test('settings of one provider reach that provider', async () => {
  const { body } = await sent({
    model: 'openai/gpt-5',
    reasoning_effort: 'low',
    reasoning_summary: 'auto',
    prompt_cache_retention: '24h',
  })
  assert.deepEqual(body['reasoning'], { effort: 'low', summary: 'auto' })
  assert.deepEqual(
    [body['prompt_cache_key'], body['prompt_cache_retention'], body['store']],
    ['conversation-1', '24h', false],
  )
  assert.deepEqual(body['include'], ['reasoning.encrypted_content'])
  const router = await sent({ model: 'openrouter/x', router_site_url: 'https://me.example', router_app_name: 'Mine' })
  assert.equal(router.headers.get('http-referer'), 'https://me.example')
  assert.equal(router.headers.get('x-title'), 'Mine')
  const claude = await sent(
    { model: 'anthropic/claude-opus-4-1', top_k: 40, extended_thinking_budget: 200_000 },
    undefined,
    {
      maxOutputTokens: 8000,
    },
  )
  assert.deepEqual(claude.body['thinking'], { type: 'enabled', budget_tokens: 7999 })
  assert.equal((await sent({ model: 'anthropic/claude-opus-4-1', top_k: 40 })).body['top_k'], 40)
})

test('an unknown setting is dropped, or refused where dropping is off', async () => {
  const config = { model: 'openai/gpt-5', seed: 7, api_key: 'k' }
  assert.equal((await sent(config)).body['seed'], undefined)
  const answer = async () => new Response('data: {}\n\n', { headers: { 'content-type': 'text/event-stream' } })
  const error = await failure(ask(modelAt({ ...config, drop_params: false }, { fetch: answer }), [user('Hi.')]))
  assert.equal(error.kind, 'config')
  assert.match(error.message, /seed/)
})

const marks = (body: Record<string, unknown>) => JSON.stringify(body).split('"cache_control"').length - 1

test('at most four places are marked for the cache: after the system prompt and the latest three', async () => {
  const flagged = (message: Message): Message => ({ ...message, cache: true })
  const long = [system('s'), ...['a', 'b', 'c', 'd'].flatMap((id) => [calls(id), flagged(result(id))]), user('end')]
  const { body } = await sent({ model: 'anthropic/claude-opus-4-1' }, long)
  assert.equal(marks(body), 4)
  assert.equal(marks({ system: body['system'] }), 1)
  const short = await sent({ model: 'anthropic/claude-opus-4-1' }, [{ ...system('s'), cache: false }, user('end')])
  assert.equal(marks(short.body), 2)
  assert.equal(marks((await sent({ model: 'anthropic/claude-opus-4-1', caching_prompt: false }, long)).body), 0)
})

test('thinking goes back to the provider it came from, with its signature', async () => {
  const thought: Message = {
    role: 'assistant',
    parts: [
      { type: 'reasoning', text: 'hm', signature: 'c2lnbmVk' },
      { type: 'reasoning', text: '', redacted: 'YmxvYg==' },
      { type: 'reasoning', text: 'so', signature: '{"item":"rs_1","encrypted":"ZW5j"}' },
      { type: 'text', text: 'Yes.' },
    ],
  }
  const history = [user('Hi.'), thought, user('Go on.')]
  const claude = await sent({ model: 'anthropic/claude-opus-4-1' }, history)
  const [, back] = claude.body['messages'] as { content: unknown[] }[]
  assert.deepEqual(back?.content, [
    { type: 'thinking', thinking: 'hm', signature: 'c2lnbmVk' },
    { type: 'redacted_thinking', data: 'YmxvYg==' },
    { type: 'text', text: 'Yes.' },
  ])
  const openai = await sent({ model: 'openai/gpt-5' }, history)
  const items = openai.body['input'] as { type?: string }[]
  assert.deepEqual(items[1], {
    type: 'reasoning',
    id: 'rs_1',
    encrypted_content: 'ZW5j',
    summary: [{ type: 'summary_text', text: 'so' }],
  })
  assert.equal(items.filter(({ type }) => type === 'reasoning').length, 1)
})

test('a picture in a result reaches a model that sees, after the whole batch of results, and is told of to one that does not', async () => {
  const seen: Message = {
    role: 'tool',
    parts: [
      {
        type: 'tool-result',
        id: 'a',
        name: 'terminal',
        content: [
          { type: 'text', text: 'shot' },
          { type: 'image', url: 'data:image/png;base64,iVBORw0KGgo=' },
        ],
        isError: false,
      },
    ],
  }
  const history = [user('Look.'), calls('a', 'b'), seen, result('b')]
  const roles = async (config: LlmConfig) => {
    const { body } = await sent(config, history)
    return { roles: (body['messages'] as { role: string }[]).map(({ role }) => role), text: JSON.stringify(body) }
  }
  const sees = await roles({ model: 'vllm/qwen2.5-vl', base_url: 'http://127.0.0.1:1', disable_vision: false })
  assert.deepEqual(sees.roles, ['user', 'assistant', 'tool', 'tool', 'user'])
  assert.match(sees.text, /image_url/)
  const blind = await roles({ model: 'vllm/qwen', base_url: 'http://127.0.0.1:1' })
  assert.deepEqual(blind.roles, ['user', 'assistant', 'tool', 'tool'])
  assert.match(blind.text, /reads text only/)
})

test('the catalogue lists models that converse, the verified ones first, without the network', () => {
  const models = catalogue()
  const firstOther = models.findIndex(({ verified }) => !verified)
  assert.ok(firstOther > 5 && models.slice(firstOther).every(({ verified }) => !verified))
  for (const model of models.slice(0, firstOther).filter(({ provider }) => provider !== 'parley')) {
    assert.ok(model.prices !== null && model.context_window !== null, `${model.provider}/${model.name}`)
  }
  assert.ok(!models.some(({ name }) => /embedding|whisper/.test(name)))
  assert.equal(new Set(models.map(({ provider, name }) => `${provider}/${name}`)).size, models.length)
})

test('bedrock is asked with the credentials of the configuration only, never with those of the machine', async () => {
  process.env['AWS_ACCESS_KEY_ID'] = 'AKIAOFTHEMACHINE'
  process.env['AWS_SECRET_ACCESS_KEY'] = 'machine-secret'
  process.env['AWS_REGION'] = 'eu-west-9'
  process.env['AWS_BEARER_TOKEN_BEDROCK'] = 'machine-token'
  const model = 'bedrock/anthropic.claude-sonnet-4-5-20250929-v1:0'
  const own = { model, api_key: '', cloud_region_name: 'us-east-1' }
  try {
    const nothing = await failure(ask(modelAt({ model }), [user('Hi.')]))
    assert.equal(nothing.kind, 'config')
    assert.equal((await failure(ask(modelAt(own), [user('Hi.')]))).kind, 'auth')
    const keys = {
      cloud_access_key_id: 'AKIAOWN',
      cloud_secret_access_key: 'own-secret',
      cloud_session_token: 'own-session',
    }
    const { url, headers } = await sent({ ...own, ...keys })
    assert.match(url, /^https:\/\/bedrock-runtime\.us-east-1\.amazonaws\.com\/model\/.*converse-stream$/)
    assert.match(headers.get('authorization') ?? '', /^AWS4-HMAC-SHA256 Credential=AKIAOWN\/\d+\/us-east-1\/bedrock/)
    assert.equal(headers.get('x-amz-security-token'), 'own-session')
  } finally {
    for (const name of ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY', 'AWS_REGION', 'AWS_BEARER_TOKEN_BEDROCK'])
      delete process.env[name]
  }
})

test('no key or address of the machine is used for any provider', async () => {
  const variables = ['ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN', 'GOOGLE_GENERATIVE_AI_API_KEY', 'OPENAI_API_KEY']
  const addresses = ['ANTHROPIC_BASE_URL', 'OPENAI_BASE_URL', 'GOOGLE_GENERATIVE_AI_BASE_URL']
  for (const name of variables) process.env[name] = 'key-of-the-machine'
  for (const name of addresses) process.env[name] = 'https://machine.example'
  try {
    for (const model of ['anthropic/claude-opus-4-1', 'openai/gpt-5', 'gemini/gemini-2.5-pro', 'groq/llama']) {
      assert.equal((await failure(ask(modelAt({ model }), [user('Hi.')]))).kind, 'auth')
      const { url, headers } = await sent({ model })
      assert.doesNotMatch(url + JSON.stringify([...headers]), /machine/)
    }
  } finally {
    for (const name of [...variables, ...addresses]) delete process.env[name]
  }
})

test('safety settings reach gemini', async () => {
  const safety_settings = [{ category: 'HARM_CATEGORY_HARASSMENT', threshold: 'BLOCK_NONE' }]
  const { body } = await sent({ model: 'gemini/gemini-2.5-flash', safety_settings })
  assert.deepEqual(body['safetySettings'], safety_settings)
})
