import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createRequire } from 'node:module'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { after, before, test } from 'node:test'
import type { Hands, Process } from '@parley/sandbox/driver'
import { handsOver } from '@parley/sandbox/hands'
import { systemClock as clock } from '@parley/store/clock'
import { run } from '../loop/loop.ts'
import { openTestSandbox, type TestSandbox } from '../testing-sandbox.ts'
import { calls, memoryLog, says, scriptedModel, testRun, userMessage } from '../testing.ts'
import { propose } from '../tools/arguments.ts'
import { toolset } from '../tools/toolset.ts'
import { mcpServers, settingsServers } from './config.ts'
import type { McpPlace } from './connect.ts'
import { openMcpServers } from './servers.ts'

const everything = createRequire(import.meta.url).resolve('@modelcontextprotocol/server-everything/dist/index.js')

/** A server of few words: greets wrongly, adds, sleeps, ends, shows its environment. */
const program = `
process.stdout.write('welcome, this is no message\\n')
const tools = ['add', 'env', 'sleep', 'end'].map((name) => ({ name, inputSchema: { type: 'object', properties: { a: { type: 'number' }, summary: { type: 'string' } } } }))
const answers = {
  initialize: (p) => ({ protocolVersion: p.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 't', version: '1' } }),
  'tools/list': () => ({ tools }),
  'tools/call': ({ name, arguments: args }) => {
    if (name === 'end') process.exit(1)
    if (name === 'sleep') return null
    return { content: [{ type: 'text', text: name === 'env' ? String(process.env.TOKEN) + ' ' + process.pid : 'sum ' + (args.a + 1) + ' ' + args.summary }] }
  },
}
require('readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line)
  const result = answers[method] && answers[method](params)
  if (id !== undefined && result) process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, result }) + '\\n')
})`

let sandbox: TestSandbox
before(async () => {
  sandbox = await openTestSandbox()
  await sandbox.put({ 'server.js': program })
})
after(() => sandbox[Symbol.asyncDispose]())

const place = (hands: Hands = sandbox.hands): McpPlace => ({
  hands: () => Promise.resolve(hands),
  workingDir: '/workspace',
  fetch,
  secretsFor: async (text) => (text.includes('${TOKEN}') ? { TOKEN: 's3cret' } : {}),
})

/** Opened, and closed when the test ends. */
async function servers(config: Record<string, unknown>, at = place()) {
  const open = openMcpServers(mcpServers(config), at)
  await open.settle()
  return Object.assign(open, { [Symbol.asyncDispose]: () => open.close() })
}
const inSandbox = { command: 'node', args: ['server.js'], env: { TOKEN: '${TOKEN}' } }

async function said(
  open: Awaited<ReturnType<typeof servers>>,
  name: string,
  data: Record<string, unknown>,
  secrets = {},
) {
  const tool = open.tools([], null).find((one) => one.name === name)
  assert.ok(
    tool,
    `there is a tool ${name} among ${open
      .tools([], null)
      .map((one) => one.name)
      .join()}`,
  )
  return tool.run({ data }, sandbox.desk(secrets))
}

test('a program of the sandbox brings tools, gets its secrets, and is gone when the conversation rests', async () => {
  const open = await servers({ local: inSandbox })
  assert.deepEqual(open.statuses(), [{ name: 'local', status: 'ready', tools: 4, detail: null }])
  const told = await said(open, 'env', {})
  assert.equal(told.kind, 'MCPToolObservation')
  const [token, pid] = JSON.stringify(told.content).match(/s3cret|\d+/g) ?? []
  assert.equal(token, 's3cret')
  await open.close()
  assert.notEqual((await sandbox.hands.run({ script: `kill -0 ${pid}` })).code, 0)
})

test('a server that ends in the middle of a call is told of, and the next call starts it again', async () => {
  await using open = await servers({ local: inSandbox })
  const add = openedTool(open, 'add')
  const lost = await said(open, 'end', {})
  assert.ok(lost.is_error)
  assert.match(JSON.stringify(lost), /Whether it took effect is unknown/)
  assert.equal(openedTool(open, 'add'), undefined, 'tools of a server that is away are not offered')
  assert.match(JSON.stringify(await add?.run({ data: { a: 1 } }, sandbox.desk())), /sum 2/)
  assert.ok(openedTool(open, 'add'))
})
const openedTool = (open: Awaited<ReturnType<typeof servers>>, name: string) =>
  open.tools([], null).find((one) => one.name === name)

test('a server that does not answer a call in time is an error of that call', async () => {
  await using open = await servers({ local: { ...inSandbox, timeout: 0.1 } })
  assert.match(JSON.stringify(await said(open, 'sleep', {})), /timed out.*took effect is unknown/i)
  assert.match(JSON.stringify(await said(open, 'add', { a: 1 })), /sum 2/)
})

test('one server that fails leaves the others', async () => {
  await using open = await servers({
    bad: { command: 'sh', args: ['-c', 'echo no such thing >&2; exit 3'] },
    none: { command: 'there-is-no-such-program' },
    closed: { url: 'http://127.0.0.1:1/mcp' },
    local: inSandbox,
  })
  const statuses = Object.fromEntries(open.statuses().map(({ name, ...rest }) => [name, rest]))
  assert.equal(statuses['local']?.status, 'ready')
  assert.match(statuses['bad']?.detail ?? '', /no such thing/)
  assert.equal(statuses['none']?.status, 'failed')
  assert.equal(statuses['closed']?.status, 'failed')
  assert.ok(
    open.tools([], null).some((tool) => tool.name === 'local_add'),
    'with several, names begin with the server',
  )
})

test('names that are taken and names that the filter leaves out', async () => {
  await using open = await servers({ local: inSandbox })
  const names = (taken: string[], filter: string | null) => open.tools(taken, filter).map((tool) => tool.name)
  assert.deepEqual(names(['add'], null), ['local_add', 'env', 'sleep', 'end'])
  assert.deepEqual(names([], '^(add|env)$'), ['add', 'env'])
  assert.deepEqual(names([], '('), [])
})

test("a tool's own schema is told to the model, and its own member named summary is its own", async () => {
  await using open = await servers({ local: inSandbox })
  const tools = toolset(open.tools([], null), { askRisk: false })
  assert.equal(
    JSON.stringify(tools.definitions[0]?.schema['properties']),
    '{"summary":{"type":"string"},"a":{"type":"number"}}',
  )
  const read = propose({ id: '1', name: 'add', arguments: '{"a":1,"summary":"x","security_risk":"LOW"}' }, tools)
  assert.deepEqual(read.input, { data: { a: 1, summary: 'x' } })
})

test('a secret that an argument names is filled in on the way to the server', async () => {
  await using open = await servers({ local: inSandbox })
  assert.match(JSON.stringify(await said(open, 'add', { a: 1, summary: '${KEY}' }, { KEY: 'k1' })), /sum 2 k1/)
})

for (const [transport, path] of [
  ['streamableHttp', '/mcp'],
  ['sse', '/sse'],
] as const)
  test(`another's server answers over ${transport}`, async () => {
    const port = await freePort()
    const server = spawn(process.execPath, [everything, transport], {
      env: { PORT: String(port) },
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    try {
      await new Promise<void>((resolve) =>
        server.stderr.on('data', (said) => String(said).includes('port') && resolve()),
      )
      await using open = await servers({ every: { url: `http://127.0.0.1:${port}${path}`, transport } })
      assert.deepEqual(open.statuses()[0]?.detail, null)
      assert.match(JSON.stringify(await said(open, 'echo', { message: 'hello' })), /hello/)
      assert.match(JSON.stringify(await said(open, 'get-tiny-image', {})), /data:image\/png;base64,/)
      assert.ok((await said(open, 'echo', { wrong: 1 })).is_error)
    } finally {
      server.kill('SIGKILL')
      await once(server, 'exit')
    }
  })

test("another's server answers over its standard streams", async () => {
  await using open = await servers(
    { every: { command: process.execPath, args: [everything, 'stdio'] } },
    place(handsOver(onHost)),
  )
  assert.match(JSON.stringify(await said(open, 'get-sum', { a: 2, b: 40 })), /42/)
})

test('the model calls a tool of a server as any other', async () => {
  await using open = await servers({ local: inSandbox })
  const log = memoryLog(clock)
  log.arrive(userMessage('Add.'))
  const model = scriptedModel([calls(['add', { a: 41 }]), says('done')], { clock })
  const hands = () => Promise.resolve(sandbox.hands)
  await run(testRun({ log, model, hands, tools: open.tools([], null) }))
  const action = log.stored.find((event) => event.kind === 'ActionEvent')
  assert.deepEqual(action?.kind === 'ActionEvent' && action.action, { kind: 'MCPToolAction', data: { a: 41 } })
  assert.match(JSON.stringify(model.requests[1]?.messages.at(-1)), /sum 42/)
})

test('the servers of the settings get names, keys and times', () => {
  const servers = settingsServers({
    stdio_servers: [{ name: 'x', command: 'c', args: [], env: {} }],
    shttp_servers: [{ url: 'https://a.example/mcp', api_key: 'k', timeout: 7 }],
    sse_servers: [{ url: 'https://a.example/sse', api_key: null }],
  })
  assert.deepEqual(Object.keys(servers), ['x', 'a_example', 'a_example_2'])
  assert.deepEqual(servers['a_example'], {
    kind: 'http',
    url: 'https://a.example/mcp',
    headers: { authorization: 'Bearer k' },
    timeoutMs: 7_000,
  })
})

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const { port } = probe.address() as AddressInfo
  probe.close()
  await once(probe, 'close')
  return port
}

/** Processes of this machine: the other's program needs its packages. */
function onHost({ argv: [name, ...args] }: { argv: [string, ...string[]] }): Process {
  const child: ChildProcess & { stdin: NodeJS.WritableStream } = spawn(name, args) as never
  const ended = once(child, 'exit').then(([code, signal]) => ({
    code: code as number | null,
    signal: signal as string | null,
  }))
  return {
    stdin: child.stdin,
    stdout: child.stdout,
    stderr: child.stderr,
    ended,
    kill: async () => void child.kill('SIGKILL'),
    interruptChildren: async () => {},
    resize: () => {},
  } as Process
}
