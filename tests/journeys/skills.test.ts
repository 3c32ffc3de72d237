import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { begin, observations, ofKind, openHouse, rest, runs, say, says, until } from '../tools/house.ts'
import { scales } from '../tools/scales.ts'

/* What joins the agent: skills of the repository, plugins from behind a token, and MCP servers that run in the sandbox. */

const house = await openHouse({
  repositories: {
    'acme/widgets': {
      members: { ada: 'write' },
      files: {
        'AGENTS.md': 'Widgets are round.\n',
        'web/AGENTS.md': 'Pages are plain.\n',
        'web/page.html': '<p>hi</p>\n',
        '.parley/skills/paint.md': '---\nname: paint\ntriggers: [paint]\n---\nPaint them green.\n',
        '.agents/skills/pack/SKILL.md': '---\nname: pack\ndescription: How we pack.\n---\nIn straw.\n',
        '.openhands/skills/old.md': '---\nname: old\ntriggers: [old]\n---\nOld.\n',
      },
    },
    'acme/scales': {
      members: { ada: 'write' },
      files: {
        'kit/.plugin/plugin.json': '{"name":"scales"}',
        'kit/skills/weighing.md': '---\ntriggers: [weigh]\n---\nWeigh twice.\n',
        'kit/.mcp.json':
          '{"mcpServers":{"scales":{"command":"node","args":["${PLUGIN_ROOT}/server.js"],"env":{"WHO":"${WHO}"}}}}',
        'kit/server.js': scales,
      },
    },
    'acme/.agents': {
      members: { ada: 'read' },
      files: {
        'skills/house.md': '---\nname: house\ntriggers: [house]\n---\nOurs is the house.\n',
        'skills/paint.md': '---\nname: paint\ntriggers: [paint]\n---\nPaint them blue.\n',
        'agents/clerk.md': '---\nname: clerk\ndescription: Files things.\n---\nFile them.\n',
      },
    },
    'ada/.openhands': {
      members: { ada: 'write' },
      files: { 'microagents/mine.md': '---\nname: mine\ntriggers: [mine]\n---\nMine.\n' },
    },
    'bob/secret': { members: {} },
  },
  scripts: {
    look: {
      turns: [
        { tools: [{ name: 'file_editor', args: { command: 'view', path: 'web/page.html' } }] },
        { tools: [{ name: 'invoke_skill', args: { name: 'pack' } }] },
        { text: 'Seen.' },
      ],
    },
    steps: { turns: [{ repeat: 3, ...runs('echo step-{{i}}') }, { text: 'Done.' }] },
    weigh: { turns: [{ tools: [{ name: 'weigh', args: { what: 'This' } }] }, { text: 'Weighed.' }] },
    plan: {
      turns: [runs('echo no'), { tools: [{ name: 'glob', args: { pattern: '*.html' } }] }, { text: 'Planned.' }],
    },
  },
})
after(() => house[Symbol.asyncDispose]())
const { ada, llm } = house
const newest = async (): Promise<string> => llm.body((await llm.log()).requests.at(-1)?.n ?? 0)

test('skills of the repository, of its organisation and of the user are shown, brought up by words and paths, and read on demand', async () => {
  await ada.settings.update({ body: { disabled_skills: ['old'] } })
  const id = await begin(ada, says('[[script:look]] Look, then paint.', { selected_repository: 'acme/widgets' }))
  const { events } = await rest(ada, id)
  const { skills } = await ada.conversations.skills({ params: { id } })
  assert.deepEqual(skills.map(({ name, type }) => `${name} ${type}`).toSorted(), [
    'agents repo',
    'agents:web knowledge',
    'house knowledge',
    'mine knowledge',
    'pack agentskills',
    'paint knowledge',
  ])
  const [message] = ofKind(events, 'MessageEvent')
  assert.deepEqual(message?.activated_skills, ['paint'])
  const body = await newest()
  assert.match(body, /- clerk: Files things\./)
  assert.ok(!body.includes('Paint them blue'), 'what the repository says wins over its organisation')
  for (const said of ['Widgets are round', 'Paint them green', 'Pages are plain', 'In straw', '- pack: How we pack']) {
    assert.ok(body.includes(said), said)
  }

  const after = await say(ada, id, 'Paint it again.')
  const next = await rest(ada, id, after - 1)
  assert.equal(ofKind(next.events, 'MessageEvent')[0]?.activated_skills, undefined, 'once in a conversation')
})

test('a plugin from behind a token brings a skill and a server, which gets its secrets', async () => {
  const source = { source: 'open_forge:acme/scales', repo_path: 'kit', parameters: { unit: 'kg' } }
  const request = says('[[script:weigh]] Weigh this.', { plugins: [source], secrets: { WHO: 'me-and-nobody' } })
  const id = await begin(ada, request)
  const { status, events } = await rest(ada, id)
  assert.equal(status, 'finished', JSON.stringify(events.at(-1)))
  assert.match(observations(events).join(), /This weighs 3 kg for <secret/)
  const [message] = ofKind(events, 'MessageEvent')
  assert.deepEqual(message?.activated_skills, ['weighing'])
  assert.match(JSON.stringify(message), /Plugin Configuration Parameters:\\n- unit: kg/)
  const [action] = ofKind(events, 'ActionEvent')
  assert.deepEqual(action?.action, { kind: 'MCPToolAction', data: { what: 'This' } })
  const up = events.find((event) => event.key === 'mcp_servers')
  assert.match(JSON.stringify(up?.value), /"scales","status":"ready","tools":1/)
})

test('a server of the settings that fails is told of, and the conversation goes on', async () => {
  const broken = { name: 'broken', command: 'sh', args: ['-c', 'echo out of order >&2; exit 1'] }
  await ada.settings.update({ body: { mcp_config: { stdio_servers: [broken], sse_servers: [], shttp_servers: [] } } })
  const id = await begin(ada, says('Hello.'))
  const { status, events } = await rest(ada, id)
  await ada.settings.update({ body: { mcp_config: null } })
  assert.equal(status, 'finished')
  const told = events.find((event) => event.code === 'mcp_server_failed')
  assert.match(String(told?.detail), /broken.*out of order/s)
})

test('a plugin that cannot be fetched ends the start', async () => {
  const fails = async (source: string, why: RegExp) => {
    const started = await ada.conversations.start({ body: says('Hello.', { plugins: [{ source }] }) })
    const ended = await until('the start ends', 20_000, async () => {
      const [task] = await ada.startTasks.getMany({ query: { ids: [started.id] } })
      return task?.status === 'ERROR' && task
    })
    assert.match(ended.detail ?? '', why)
  }
  await fails('open_forge:bob/secret', /SETTING_UP_SKILLS: the plugin open_forge:bob\/secret could not be fetched/)
  await fails('kit/none', /the plugin kit\/none has no folder/)
})

test('a planning agent has no shell', async () => {
  const id = await begin(
    ada,
    says('[[script:plan]] Plan.', { agent_type: 'plan', selected_repository: 'acme/widgets' }),
  )
  const { events } = await rest(ada, id)
  assert.match(JSON.stringify(ofKind(events, 'AgentErrorEvent')), /no tool terminal/)
  assert.match(observations(events).join(), /web\/page\.html/)
  assert.match(JSON.stringify(ofKind(events, 'SystemPromptEvent')), /planning agent.*\.agents_tmp\/PLAN\.md/)
})

test('the first request of a plain conversation is at most 6 KB, with everything on at most 12.5 KB', async () => {
  const first = async (id: string): Promise<number> => {
    await rest(ada, id)
    return (await llm.log()).requests.at(-1)?.bytes ?? Number.POSITIVE_INFINITY
  }
  const plain = await first(await begin(ada, says('Hello.')))
  assert.ok(plain <= 6 * 1024, `${plain} bytes`)
  await ada.settings.update({ body: { search_api_key: 'tvly-key-of-ada-1234567', confirmation_mode: true } })
  const plugins = [{ source: 'open_forge:acme/scales', repo_path: 'kit' }]
  const full = await first(await begin(ada, says('Hello.', { plugins, selected_repository: 'acme/widgets' })))
  assert.ok(full <= 12.5 * 1024, `${full} bytes`)
})

test('a step adds its call and its result to the request and nothing else, at the end of what was sent before', async () => {
  await ada.settings.update({ body: { search_api_key: null, confirmation_mode: false } })
  await llm.clear()
  await rest(ada, await begin(ada, says('[[script:steps]] Go.')))
  const { requests } = await llm.log()
  const [, first, second] = requests
  assert.ok((second?.bytes ?? 0) - (first?.bytes ?? 0) <= 283, `${requests.map(({ bytes }) => bytes).join()}`)
  assert.deepEqual(
    requests.slice(1).filter(({ prefixShare }) => prefixShare !== 1),
    [],
  )
})
