import assert from 'node:assert/strict'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, afterEach, test } from 'node:test'
import type { SettingsUpdate } from '@parley/contract/settings'
import { begin, eventsOf, ofKind, openHouse, rest, runs, says, until } from '../tools/house.ts'
import { openScriptedLlm } from '../tools/scripted-llm.ts'

/* What settings say of the agent beyond its model: each has its effect, and no key of them shows. */

const key = 'key-of-the-judge-4711'
const asked: { path: string; authorization: string | undefined; body: string }[] = []
const judge = createServer((request, response) => {
  void bodyOf(request).then((body) => {
    asked.push({ path: request.url ?? '', authorization: request.headers.authorization, body })
    const answer = request.url === '/critic' ? { probabilities: { success: 0.3, untested: 0.9 } } : { violation: 0.9 }
    response.setHeader('content-type', 'application/json').end(JSON.stringify(answer))
  })
})
await new Promise<void>((resolve) => judge.listen(0, '127.0.0.1', resolve))
const judgeHost = `127.0.0.1:${(judge.address() as AddressInfo).port}`
const spare = await openScriptedLlm({ model: 'spare-1', turns: [{ text: 'From the spare.' }] })

const house = await openHouse({
  privateHosts: [judgeHost, new URL(spare.url).host],
  scripts: {
    hello: { turns: [{ text: 'Hello.' }, { text: 'Again.' }] },
    down: { turns: [{ text: 'x', fault: { type: 'status', status: 503, times: -1 } }] },
    acts: { turns: [runs('echo hi'), { tools: [{ name: 'finish', args: { message: 'Done.' } }] }, { text: 'Well.' }] },
  },
})
after(async () => {
  await house[Symbol.asyncDispose]()
  await spare[Symbol.asyncDispose]()
  judge.close()
})
const { ada, llm } = house
type AgentSettings = NonNullable<SettingsUpdate['agent_settings']>
const set = (agent_settings: AgentSettings | null) => ada.settings.update({ body: { agent_settings } })
afterEach(() => set(null))
const newest = async (): Promise<string> => llm.body((await llm.log()).requests.at(-1)?.n ?? 0)

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString('utf8')
}

test('the settings of a model reach it, and a whole call is kept where that is asked for', async () => {
  await set({ llm: { temperature: 0.25, top_p: 0.5, log_completions: true, log_completions_folder: 'kept' } })
  const id = await begin(ada, says('[[script:hello]] Hi.'))
  const { events } = await rest(ada, id)
  const body = JSON.parse(await newest()) as Record<string, unknown>
  assert.deepEqual([body['temperature'], body['top_p']], [0.25, 0.5])
  const [log] = ofKind(events, 'LLMCompletionLogEvent')
  assert.match(String(log?.['filename']), /^kept\/.+\.json$/)
  const kept = JSON.parse(String(log?.['log_data'])) as { response: { text: string } }
  assert.equal(kept.response.text, 'Hello.')
})

test('a model that cannot be reached is replaced by the next profile, at its own key', async () => {
  const profile = { model: 'openai-compatible/spare-1', base_url: `${spare.url}/v1`, api_key: 'key-of-the-spare' }
  await set({
    llm: {
      num_retries: 2,
      retry_min_wait: 0,
      retry_max_wait: 0.01,
      fallback_strategy: { fallback_llms: ['spare'], profile_store_dir: null },
    },
    llm_profiles: { spare: profile },
  })
  const id = await begin(ada, says('[[script:down]] Hi.'))
  const { status, events } = await rest(ada, id)
  assert.equal(status, 'finished')
  assert.match(JSON.stringify(ofKind(events, 'MessageEvent').at(-1)), /From the spare/)
  const told = events.find((event) => event['code'] === 'llm_fallback')
  assert.match(String(told?.['detail']), /scripted-1 could not be reached.*spare-1 is asked instead/s)
  assert.equal(ofKind(events, 'LLMCallEvent')[0]?.['model'], 'openai-compatible/spare-1')
  assert.equal(ofKind(events, 'LLMRetryEvent').length, 1)
})

test('a scoring service decides what waits, and its verdict and score are on the action', async () => {
  await set({
    confirmation_policy: { kind: 'ConfirmRisky', threshold: 'HIGH', confirm_unknown: true },
    security_analyzer: { ...vendorDefaults, api_url: `http://${judgeHost}/analyzer`, api_key: key },
  })
  const shown = await ada.settings.get({})
  assert.ok(!JSON.stringify(shown).includes(key))
  const id = await begin(ada, says('[[script:acts]] Go.'))
  const [action] = await until('it waits', 20_000, async () => {
    const { execution_status } = await ada.conversations.get({ params: { id } })
    return execution_status === 'waiting_for_confirmation' && ofKind(await eventsOf(ada, id), 'ActionEvent')
  })
  assert.equal(action?.['security_risk'], 'HIGH')
  const { source, score } = action['risk'] as { source: string; score: number }
  assert.deepEqual([source, score], ['vendor', 0.9])
  const call = asked.find(({ path }) => path === '/analyzer')
  assert.equal(call?.authorization, `Bearer ${key}`)
  assert.match(call.body, /echo hi/)
})

const vendorDefaults = {
  kind: 'VendorAnalyzer' as const,
  history_limit: 20,
  max_message_chars: 30_000,
  timeout: 30,
  low_threshold: 0.3,
  medium_threshold: 0.7,
  policy_id: null,
  on_failure: 'high' as const,
}

test('a critic outside judges every action and the end, and sends the agent back', async () => {
  const iterative_refinement = { success_threshold: 0.6, max_iterations: 1 }
  const api = { api_url: `http://${judgeHost}/critic`, api_key: key, issue_threshold: 0.75, timeout: 10 }
  await set({ critic: { kind: 'APIBasedCritic', ...api, mode: 'all_actions', iterative_refinement } })
  const id = await begin(ada, says('[[script:acts]] Go.'))
  const { status, events } = await rest(ada, id)
  assert.equal(status, 'finished')
  const results = events.filter((event) => event['key'] === 'critic_result').map((event) => event['value'])
  assert.deepEqual(
    (results as { score: number; refined: boolean }[]).map(({ score, refined }) => [score, refined]),
    [
      [0.3, false],
      [0.3, true],
      [0.3, false],
    ],
  )
  assert.match(await newest(), /probably wrong: untested/)
  assert.match(asked.find(({ path }) => path === '/critic')?.body ?? '', /\[\[script:acts\]\] Go/)
})

test('tools, notes and what goes with every message can be set', async () => {
  await set({
    include_default_tools: ['FinishTool'],
    agent_context: {
      skills: [
        { name: 'house', content: 'We write British English.', type: null, trigger: null },
        { name: 'paint', content: 'Paint it green.', type: 'knowledge', trigger: ['paint'] },
      ],
      system_message_suffix: 'You are in a hurry.',
      user_message_prefix: null,
      user_message_suffix: 'Answer in one line.',
    },
  })
  const id = await begin(ada, says('[[script:hello]] Hi, paint it.'))
  await rest(ada, id)
  const body = await newest()
  for (const said of ['British English', 'Paint it green', 'You are in a hurry', 'Answer in one line', '"finish"'])
    assert.ok(body.includes(said), said)
  assert.ok(!body.includes('"think"'))
  const { skills } = await ada.conversations.skills({ params: { id } })
  assert.deepEqual(skills.map(({ name }) => name).toSorted(), ['house', 'paint'])
})

test('tools are chosen by name and by pattern; a name that nobody knows is refused', async () => {
  const tools = ['grep', 'terminal', 'ApplyPatchTool'].map((name) => ({ name, params: {} }))
  await set({ tools, filter_tools_regex: '^(grep|apply)', include_default_tools: ['FinishTool'] })
  await rest(ada, await begin(ada, says('[[script:hello]] Hi.')))
  const body = JSON.parse(await newest()) as { tools: { function: { name: string } }[] }
  assert.deepEqual(
    body.tools.map((tool) => tool.function.name),
    ['grep', 'apply_patch', 'finish'],
  )
  await assert.rejects(set({ tools: [{ name: 'nonsense', params: {} }] }), {
    code: 'validation_error',
    message: /nonsense/,
  })
})
