import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { LogEvent } from '@parley/contract/events'
import { HookConfigInput } from '@parley/contract/hook-config'
import { systemClock as clock } from '@parley/store/clock'
import { run } from '../loop/loop.ts'
import type { RunOptions } from '../loop/work.ts'
import { openTestSandbox, type TestSandbox } from '../testing-sandbox.ts'
import { actTool, calls, memoryLog, says, scriptedModel, testRun, userMessage, type ScriptedTurn } from '../testing.ts'
import { finish } from '../tools/finish.ts'
import { runHook } from './command.ts'
import { matches } from './matcher.ts'
import { verdictOf } from './verdict.ts'

let sandbox: TestSandbox
before(async () => void (sandbox = await openTestSandbox()))
after(() => sandbox[Symbol.asyncDispose]())

const never = new AbortController().signal
const one = (command: string, timeoutMs = 20_000) =>
  runHook(sandbox.hands, { command, env: { A: 'x' }, cwd: '/workspace', stdin: '{"n":1}', timeoutMs }, clock, never)

interface Told {
  hook: Record<string, unknown>
  matcher?: string
}
const config = (moments: Record<string, Told>) =>
  HookConfigInput.parse(
    Object.fromEntries(
      Object.entries(moments).map(([moment, { hook, matcher = '*' }]) => [moment, [{ matcher, hooks: [hook] }]]),
    ),
  )
const command = (text: string, more: Record<string, unknown> = {}): Told => ({ hook: { command: text, ...more } })

async function tried(
  moments: Record<string, Told>,
  turns: ScriptedTurn[],
  { log = memoryLog(clock), ...more }: Partial<RunOptions> & { log?: ReturnType<typeof memoryLog> } = {},
) {
  if (log.stored.length === 0) log.arrive(userMessage('Go.'))
  const acted: string[] = []
  const act = actTool(async (name) => (acted.push(name), `did ${name}`))
  const model = scriptedModel(turns, { clock })
  const hands = () => Promise.resolve(sandbox.hands)
  const options = { log, model, tools: [act, finish], hands, hooks: config(moments), ...more, policy: {} }
  const outcome = await run(testRun(options))
  return { log, model, acted, outcome, hooks: ofKind(log.stored, 'HookExecutionEvent') }
}
const ofKind = <K extends LogEvent['kind']>(events: readonly LogEvent[], kind: K) =>
  events.filter((event): event is Extract<LogEvent, { kind: K }> => event.kind === kind)
const acts = (name: string): ScriptedTurn => calls(['act', { name }])
const sent = (model: { requests: { messages: unknown }[] }, at: number) => JSON.stringify(model.requests[at]?.messages)

test('a matcher is a name, everything, or a pattern that fits the whole name in linear time', () => {
  assert.deepEqual(
    ['', '*', 'terminal', 'term.*', '/term.*/', 'term', 'a|terminal', '(', '/(/', 'Terminal'].map((one) =>
      matches(one, 'terminal'),
    ),
    [true, true, true, true, true, false, true, false, false, false],
  )
  assert.deepEqual([matches('*', null), matches('terminal', null), matches('.*', null)], [true, false, false])
  assert.equal(matches('(a+)+$', `${'a'.repeat(5_000)}b`), false)
})

test('an exit code and a JSON object say what a hook means', () => {
  const of = (code: number | null, stdout = '', stderr = '', on_failure?: 'deny') => {
    const { success, blocked, reason } = verdictOf(
      { on_failure },
      { code, stdout, stderr, error: code === null ? 'late' : null },
    )
    return [success, blocked, reason]
  }
  assert.deepEqual(of(0, 'hello'), [true, false, null])
  assert.deepEqual(of(2, '', 'no\n'), [false, true, 'no'])
  assert.deepEqual(of(1, '', 'oops'), [false, false, null])
  assert.deepEqual(of(1, '', 'oops', 'deny'), [false, true, 'oops'])
  assert.deepEqual(of(null), [false, false, null])
  assert.deepEqual(of(null, '', '', 'deny'), [false, true, 'late'])
  assert.deepEqual(of(0, '{"decision":"deny","reason":"policy"}'), [true, true, 'policy'])
  assert.deepEqual(of(0, '{"continue":false}')[1], true)
  assert.deepEqual(of(0, '{"decision":"maybe"}'), [true, false, null])
})

test('a hook runs in the sandbox with its input and variables, and ends with all it started when its time is up', async () => {
  assert.deepEqual(await one('cat; echo "$A $PWD" >&2; exit 3'), {
    code: 3,
    stdout: '{"n":1}',
    stderr: 'x /workspace\n',
    error: null,
  })
  const late = await one('sleep 4711 & sleep 4711', 200)
  assert.deepEqual([late.code, late.error], [-1, 'It took longer than 0.2 s.'])
  const left = await sandbox.hands.run({ script: 'ps ax | grep -c "[s]leep 4711"' })
  assert.equal(left.stdout.toString().trim(), '0')
  assert.equal((await one('head -c 200000 /dev/zero | tr "\\0" x')).stdout.length, 50_000)
})

test('a hook before a tool sees the call and can refuse it; the model is told why', async () => {
  const script = 'cat > seen.json; grep -q forbidden seen.json && { echo "not that" >&2; exit 2; }; exit 0'
  const { acted, hooks, log, model } = await tried({ pre_tool_use: { ...command(script), matcher: 'act' } }, [
    acts('forbidden'),
    acts('fine'),
    says('ok'),
  ])
  assert.deepEqual(acted, ['fine'])
  const [refused] = ofKind(log.stored, 'UserRejectObservation')
  assert.deepEqual([refused?.rejection_source, refused?.rejection_reason], ['hook', 'not that'])
  assert.deepEqual(
    hooks.map(({ blocked, exit_code, hook_event_type }) => [blocked, exit_code, hook_event_type]),
    [
      [true, 2, 'PreToolUse'],
      [false, 0, 'PreToolUse'],
    ],
  )
  assert.match(sent(model, 1), /rejected: not that/)
  const input = JSON.parse(String(await sandbox.hands.files.read('/workspace/seen.json'))) as Record<string, unknown>
  assert.deepEqual(
    [input['event_type'], input['tool_name'], input['tool_input'], input['session_id'], input['working_dir']],
    ['PreToolUse', 'act', { name: 'fine' }, 'test', '/workspace'],
  )
  const key = log.stored.find(
    (event) => event.kind === 'ConversationStateUpdateEvent' && event.key === 'blocked_actions',
  )
  assert.ok(key !== undefined)
})

test('a hook that fails lets the call through, unless a failure is to deny it', async () => {
  for (const [on_failure, expected] of [
    ['allow', ['a']],
    ['deny', []],
  ] as const) {
    const { acted } = await tried({ pre_tool_use: command('exit 1', { on_failure }) }, [acts('a'), says('ok')])
    assert.deepEqual(acted, expected)
  }
})

test('a hook after a tool hears the result, and what it adds is for the model', async () => {
  const script = `jq -c '{additionalContext: ("heard " + .tool_response.content[0].text)}' 2>/dev/null || sed 's/.*/{"additionalContext":"heard did a"}/'`
  const { model, log } = await tried({ post_tool_use: command(script) }, [acts('a'), says('ok')])
  assert.match(sent(model, 1), /did a.*heard did a/)
  assert.equal(ofKind(log.stored, 'MessageEvent').filter((event) => event.source === 'hook').length, 1)
})

test('a message that a hook refuses is never seen by a model, and the run is at its end', async () => {
  const script = 'grep -q secretword && { echo "no such words" >&2; exit 2; }; exit 0'
  const moments = { user_prompt_submit: command(script) }
  const log = memoryLog(clock)
  log.arrive(userMessage('The secretword.'))
  const { outcome, model } = await tried(moments, [], { log })
  assert.deepEqual([outcome.status, model.requests.length], ['finished', 0])
  log.arrive(userMessage('Something else.'))
  const next = await tried(moments, [says('ok')], { log: memoryLog(clock, structuredClone(log.stored)) })
  assert.equal(next.outcome.status, 'finished')
  assert.match(sent(next.model, 0), /Something else/)
  assert.doesNotMatch(sent(next.model, 0), /secretword/)
})

test('a message that comes while the agent works is shown to the hooks too, each message once', async () => {
  const log = memoryLog(clock)
  const late: ScriptedTurn = () => (log.arrive(userMessage('A secretword, later.')), calls(['act', { name: 'a' }]))
  log.arrive(userMessage('Go.'))
  const script = 'grep -q secretword && exit 2; echo \'{"additionalContext":"mind the gap"}\''
  const { hooks, model } = await tried({ user_prompt_submit: command(script) }, [late, says('ok')], { log })
  assert.deepEqual(
    hooks.map(({ blocked }) => blocked),
    [false, true],
  )
  assert.match(sent(model, 0), /Go\..*mind the gap/)
  assert.doesNotMatch(sent(model, 1), /secretword/)
})

test('a stop hook sends the agent back, three times at most, and knows that it has', async () => {
  const script = 'grep -c \'"stop_hook_active":true\' >> stops; echo "run the tests" >&2; exit 2'
  const turns = Array.from({ length: 4 }, () => calls(['finish', { message: 'Done.' }]))
  const { outcome, hooks, model } = await tried({ stop: command(script) }, turns)
  assert.deepEqual([outcome.status, model.requests.length, hooks.length], ['finished', 4, 4])
  assert.match(sent(model, 1), /not done yet: run the tests/)
  assert.equal(String(await sandbox.hands.files.read('/workspace/stops')), '0\n1\n1\n1\n')
})

test('a stop hook is asked once for an ending, also when the run is started again without a new message', async () => {
  const first = await tried({ stop: command('exit 0') }, [says('ok')])
  const again = await tried({ stop: command('exit 0') }, [], { log: memoryLog(clock, first.log.stored) })
  assert.deepEqual([again.outcome.status, again.hooks.length], ['finished', 1])
})

test('a session starts with the first step and ends when the conversation rests, once each', async () => {
  const moments = { session_start: command('echo start >> session'), session_end: command('echo end >> session') }
  const { log } = await tried(moments, [acts('a'), says('ok')])
  log.arrive(userMessage('More.'))
  await tried(moments, [says('ok')], { log })
  assert.equal(String(await sandbox.hands.files.read('/workspace/session')), 'start\nend\nstart\nend\n')
})

test('a hook that nobody waits for is started, told of, and holds nothing up', async () => {
  const { acted, hooks } = await tried({ pre_tool_use: command('sleep 2; touch later', { async: true }) }, [
    acts('a'),
    says('ok'),
  ])
  assert.deepEqual([acted, hooks.map((event) => [event.async, event.exit_code])], [['a'], [[true, null]]])
  assert.equal(await sandbox.hands.files.stat('/workspace/later'), null)
})

test('without a sandbox a hook fails like any other, and an interrupt ends one that runs', async () => {
  const hands = () => Promise.reject(new Error('no room'))
  const { outcome, hooks } = await tried({ user_prompt_submit: command('true') }, [says('ok')], { hands })
  assert.deepEqual([outcome.status, hooks[0]?.success, hooks[0]?.error?.includes('no room')], ['finished', false, true])

  const log = memoryLog(clock)
  log.arrive(userMessage('Go.'))
  setTimeout(() => log.arrive({ kind: 'InterruptEvent', source: 'user' }), 300)
  const stopped = await tried({ pre_tool_use: command('sleep 4712') }, [acts('a')], { log })
  assert.deepEqual([stopped.outcome.status, stopped.acted], ['paused', []])
  assert.equal(ofKind(log.stored, 'AgentErrorEvent').length, 1)
})
