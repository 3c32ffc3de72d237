import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { openScriptedLlm, type Script, type ScriptedLlm } from '../../../tests/tools/scripted-llm.ts'
import type { LlmConfig } from './config.ts'
import { all, ask, calls, failure, modelAt, request, result, system, terminal, textOf, user } from './conformance.ts'
import type { Message, Model } from './model.ts'

/* Every family keeps the same promises, against a server that speaks its wire. */

const key = 'sk-0123456789abcdef'
const families: Record<string, (url: string) => LlmConfig> = {
  'openai-compatible': (url) => ({ model: 'openai/local', base_url: `${url}/v1`, api_key: key }),
  'openai responses': (url) => ({ model: 'openai/gpt-5', base_url: `${url}/v1`, api_key: key, api_mode: 'responses' }),
  'openai chat': (url) => ({ model: 'openai/gpt-4.1', base_url: `${url}/v1`, api_key: key, api_mode: 'chat' }),
  gemini: (url) => ({ model: 'gemini/gemini-2.5-flash', base_url: `${url}/v1beta`, api_key: key }),
  anthropic: (url) => ({ model: 'anthropic/claude-sonnet-4-5', base_url: url, api_key: key }),
}

const opening = [system('You are careful.'), user('Do it.')]
const say = (text: string, fault?: Record<string, unknown>): Script => ({
  turns: [{ text, ...(fault ? { fault } : {}) }],
})
const call = (fault?: Record<string, unknown>): Script => ({
  turns: [
    {
      tools: [{ name: 'terminal', args: { command: 'echo one two three four five six' } }],
      ...(fault ? { fault } : {}),
    },
  ],
})

const refusals: [string, Record<string, unknown>, { kind: string; status?: number | null; retryAfterMs?: number }][] = [
  ['a 500', { type: 'status', status: 500 }, { kind: 'transient', status: 500 }],
  ['a 502', { type: 'status', status: 502 }, { kind: 'transient', status: 502 }],
  ['a 503', { type: 'status', status: 503 }, { kind: 'overloaded', status: 503 }],
  ['a 529', { type: 'status', status: 529 }, { kind: 'overloaded', status: 529 }],
  [
    'a 429 with Retry-After',
    { type: 'status', status: 429, retryAfter: 3 },
    { kind: 'rate_limit', retryAfterMs: 3000 },
  ],
  [
    'a 429 for a spent quota',
    { type: 'status', status: 429, code: 'insufficient_quota', message: 'You exceeded your current quota.' },
    { kind: 'quota' },
  ],
  [
    'a refused key',
    { type: 'status', status: 401, message: `Incorrect API key provided: ${key}` },
    { kind: 'auth', status: 401 },
  ],
  [
    'an unknown model',
    { type: 'status', status: 404, message: 'The model `x` does not exist' },
    { kind: 'config', status: 404 },
  ],
  [
    'a refused request',
    { type: 'status', status: 400, message: 'tool_result image is bad' },
    { kind: 'bad_request', status: 400 },
  ],
  ['a prompt that is too long', { type: 'context-length' }, { kind: 'context_overflow' }],
  ['a connection cut before the answer', { type: 'disconnect' }, { kind: 'transient' }],
  ['a connection cut in the answer', { type: 'disconnect', afterChunks: 3 }, { kind: 'transient' }],
  ['a stream that ends early', { type: 'truncate', afterChunks: 3 }, { kind: 'transient' }],
  ['an event that is not JSON', { type: 'malformed', afterChunks: 2 }, { kind: 'transient' }],
  ['an error as the first event', { type: 'stream-error', afterChunks: 0 }, { kind: 'transient' }],
  ['an error within the stream', { type: 'stream-error', afterChunks: 3 }, { kind: 'transient' }],
  ['silence before the answer', { type: 'stall', afterChunks: 0, ms: 60_000 }, { kind: 'transient' }],
  ['silence within the answer', { type: 'stall', afterChunks: 6, ms: 60_000 }, { kind: 'transient' }],
]

const writeAndCall = (fault: Record<string, unknown>): Script => ({
  turns: [
    { text: 'word '.repeat(20), chunkTokens: 1, tools: [{ name: 'terminal', args: { command: 'true' } }], fault },
  ],
})

/** The error of a call and the kinds of parts that came before it. */
async function refused(model: Model) {
  const seen: string[] = []
  const read = async () => {
    const parts = model.stream(request(opening), new AbortController().signal)
    for await (const { type } of parts) seen.push(type)
  }
  return { error: await failure(read()), seen }
}

/** The requests that the server has done with: it notes one only when its connection has ended. */
async function over(llm: ScriptedLlm) {
  for (const end = Date.now() + 5000; Date.now() < end; await setTimeout(10)) {
    const { requests } = await llm.log()
    if (requests.length > 0) return requests
  }
  return []
}

for (const [family, configOf] of Object.entries(families)) {
  describe(family, () => {
    let llm: ScriptedLlm
    before(async () => {
      llm = await openScriptedLlm(say('Hello.'))
    })
    after(() => llm[Symbol.asyncDispose]())
    const play = async (script: Script) => {
      await llm.setScript(script)
      await llm.clear()
    }
    const model = () => modelAt(configOf(llm.url), { limits: { thinkMs: 1000, idleMs: 300 } })

    test('text comes as it is written and ends with its usage', async () => {
      await play({ turns: [{ text: 'One two three four five six seven eight nine ten.', chunkTokens: 1 }] })
      const parts = await ask(model(), opening)
      assert.ok(parts.filter(({ type }) => type === 'text').length > 3)
      assert.equal(textOf(parts), 'One two three four five six seven eight nine ten.')
      const finish = parts.at(-1)
      assert.ok(finish?.type === 'finish' && finish.reason === 'stop' && finish.responseId !== '')
      const [logged] = (await llm.log()).requests
      assert.equal(finish.usage.prompt_tokens, logged?.promptTokens)
      assert.equal(finish.usage.completion_tokens, logged?.completionTokens)
    })

    test('the next step reads the whole previous prompt from the cache', async () => {
      await play({ turns: [{ text: 'a' }, { text: 'b' }, { text: 'c' }] })
      const history: Message[] = [system('You are careful. '.repeat(80)), user('Do it.')]
      const one = model()
      await ask(one, history)
      history.push(calls('x', 'y'), result('x'), result('y'))
      await ask(one, history)
      history.push({ role: 'assistant', parts: [{ type: 'text', text: 'b' }] }, user('More.'))
      const finish = (await ask(one, history)).at(-1)
      const { requests } = await llm.log()
      assert.deepEqual(
        requests.map(({ prefixShare }) => prefixShare),
        [null, 1, 1],
      )
      assert.ok(finish?.type === 'finish' && finish.usage.cache_read_tokens === requests[2]?.cachedTokens)
      assert.ok(finish.usage.cache_read_tokens > 300 && finish.usage.prompt_tokens > finish.usage.cache_read_tokens)
    })

    test('a tool call comes whole, after which the answer ends', async () => {
      await play(call())
      const parts = await ask(model(), opening)
      assert.deepEqual(
        parts.map(({ type }) => type),
        ['tool-call', 'finish'],
      )
      const [tool, finish] = parts
      assert.ok(tool?.type === 'tool-call' && tool.name === 'terminal')
      assert.deepEqual(JSON.parse(tool.arguments), { command: 'echo one two three four five six' })
      assert.ok(finish?.type === 'finish' && finish.reason === 'tools')
    })

    if (family !== 'gemini') {
      // there arguments are an object on the wire
      test('arguments that are not JSON are given out as they came', async () => {
        await play(call({ type: 'malformed-args' }))
        const tool = (await ask(model(), opening)).find((part) => part.type === 'tool-call')
        assert.ok(tool?.type === 'tool-call')
        assert.throws(() => JSON.parse(tool.arguments))
      })
    }

    test('a call whose arguments were not JSON can be sent back', async () => {
      await play({ turns: [{ text: 'a' }, { text: 'fine' }] })
      const broken: Message = {
        role: 'assistant',
        parts: [{ type: 'tool-call', id: 'q', name: 'terminal', arguments: '{"comm' }],
      }
      assert.equal(textOf(await ask(model(), [...opening, broken, result('q')])), 'fine')
    })

    test('an empty answer is an answer without text', async () => {
      await play(say('x', { type: 'empty' }))
      assert.deepEqual(
        (await ask(model(), opening)).map(({ type }) => type),
        ['finish'],
      )
    })

    test('an answer cut by the output limit says so', async () => {
      await play({ turns: [{ text: 'half', finish: 'length' }] })
      const finish = (await ask(model(), opening)).at(-1)
      assert.ok(finish?.type === 'finish' && finish.reason === 'length')
    })

    for (const [what, fault, expected] of refusals) {
      test(`${what} is ${expected.kind}, once, without the key and without half a tool call`, async () => {
        await play(writeAndCall({ times: -1, ...fault }))
        const { error, seen } = await refused(model())
        const found = Object.fromEntries(Object.keys(expected).map((name) => [name, error[name as 'kind']]))
        assert.deepEqual(found, expected, error.message)
        assert.ok(!seen.includes('tool-call') && !seen.includes('finish'))
        assert.ok(error.message.length > 0 && error.message.length <= 4096)
        assert.ok(!`${error.message}${error.stack}`.includes(key))
        assert.equal((await over(llm)).length, 1)
      })
    }

    for (const type of family === 'gemini' ? [] : ['disconnect', 'truncate']) {
      test(`a tool call that is cut in its arguments (${type}) is not given out`, async () => {
        await play(call({ times: -1, type, afterChunks: 4 }))
        const { error, seen } = await refused(model())
        assert.equal(error.kind, 'transient')
        assert.deepEqual(seen, [])
      })
    }

    test('an interrupt ends the call at once, with its own reason', async () => {
      await play({ turns: [{ text: 'never', hold: 'gate' }] })
      const patient = modelAt(configOf(llm.url))
      const stop = new AbortController()
      const asked = all(patient.stream(request(opening), stop.signal))
      const reason = new Error('interrupted')
      stop.abort(reason)
      await assert.rejects(asked, (error) => error === reason)
      const again = new AbortController()
      const held = all(patient.stream(request(opening), again.signal))
      await setTimeout(50)
      again.abort(reason)
      await assert.rejects(held, (error) => error === reason)
      assert.equal((await over(llm))[0]?.aborted, true)
      await llm.release('gate')
    })

    test('a server that is not there is a transient failure that says why', async () => {
      const error = await failure(ask(modelAt(configOf('http://127.0.0.1:9')), opening))
      assert.equal(error.kind, 'transient')
      assert.match(error.message, /ECONNREFUSED|bad port/)
    })

    test('tools can be switched off for one answer without changing what is cached before it', async () => {
      await play({ turns: [{ text: 'a' }, { text: 'b' }] })
      const one = model()
      await ask(one, opening)
      await ask(one, [...opening, calls('x'), result('x')], { toolChoice: 'none' })
      const { requests } = await llm.log()
      assert.equal(requests[1]?.prefixShare, 1)
      assert.match(await llm.body(requests[1]?.n ?? 0), new RegExp(terminal.description))
    })
  })
}
