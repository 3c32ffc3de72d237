import assert from 'node:assert/strict'
import { test } from 'node:test'
import { echoOf, StartRequest, StartRequestEcho } from './start-request.ts'
import { ConversationInfo } from './webhooks.ts'

const text = (words: string) => ({ content: [{ type: 'text', text: words }] })
const issuesOf = (body: unknown) =>
  StartRequest.safeParse(body).error?.issues.map((issue) => issue.path.join('.')) ?? []

test('a start needs no field at all, and null is as good as absent', () => {
  const empty = StartRequest.parse({})
  assert.equal(empty.agent_type, 'default')
  assert.deepEqual(empty.pr_number, [])
  const nulls = Object.fromEntries(Object.entries(empty).filter(([, value]) => value === null))
  assert.deepEqual(StartRequest.parse(nulls), empty)
})

test('a message of a start is the user\u2019s, is not empty, and does not run by itself', () => {
  const { initial_message } = StartRequest.parse({ initial_message: text('hello') })
  assert.deepEqual(initial_message, {
    role: 'user',
    content: [{ type: 'text', text: 'hello', cache_prompt: false }],
    run: false,
  })
  assert.deepEqual(issuesOf({ initial_message: { content: [] } }), ['initial_message.content'])
  assert.deepEqual(issuesOf({ initial_message: { ...text('x'), role: 'system' } }), ['initial_message.role'])
  assert.deepEqual(issuesOf({ initial_message: { content: [{ type: 'text', text: 'x', bold: true }] } }), [
    'initial_message.content.0',
  ])
  assert.deepEqual(issuesOf({ initial_message: text('x'.repeat(1_000_001)) }), ['initial_message.content'])
})

test('what could reach a shell, a file or another person\u2019s thing is refused at the door', () => {
  const bad: [string, unknown][] = [
    ['selected_repository', 'a/b;id'],
    ['selected_repository', 'a/b\n'],
    ['selected_branch', '--orphan'],
    ['selected_branch', 'main\u3000;id'],
    ['conversation_id', 'not-a-uuid'],
    ['parent_conversation_id', '../1'],
    ['git_provider', 'GITHUB'],
    ['trigger', 'GUI'],
    ['agent_type', 'Plan'],
    ['title', ' '],
    ['pr_number', ['1']],
    ['pr_number', [2 ** 53]],
    ['public', 'yes'],
    ['llm_model', 'a b'],
  ]
  for (const [field, value] of bad) {
    const issues = issuesOf({ [field]: value })
    assert.ok(issues.length > 0 && issues.every((path) => path.startsWith(field)), `${field}: ${String(value)}`)
  }
})

test('an unknown kind of processor is refused, and the four known kinds have their defaults', () => {
  assert.deepEqual(issuesOf({ processors: [{ kind: 'ShellCallbackProcessor' }] }), ['processors.0.kind'])
  const { processors } = StartRequest.parse({
    processors: [
      { kind: 'ForgeV1CallbackProcessor' },
      { kind: 'ChatV1CallbackProcessor' },
      { kind: 'LoggingCallbackProcessor' },
      { kind: 'SetTitleCallbackProcessor' },
    ],
  })
  assert.deepEqual(processors?.[0], {
    kind: 'ForgeV1CallbackProcessor',
    forge_view_data: {},
    should_request_summary: true,
    inline_pr_comment: false,
  })
})

test('a suggested task writes its own message, so it cannot come with one', () => {
  const task = { git_provider: 'github', task_type: 'MERGE_CONFLICTS', repo: 'ada/engine', issue_number: 3, title: 'x' }
  assert.equal(StartRequest.parse({ suggested_task: task }).suggested_task?.git_provider, 'forge_a')
  assert.deepEqual(issuesOf({ suggested_task: task, initial_message: text('x') }), ['suggested_task'])
  assert.deepEqual(issuesOf({ suggested_task: { ...task, task_type: 'OPEN_PR' } }), ['suggested_task.task_type'])
  assert.deepEqual(issuesOf({ suggested_task: { ...task, repo: undefined } }), ['suggested_task.repo'])
})

test('secrets of a start obey the rules for names', () => {
  assert.ok(StartRequest.safeParse({ secrets: { NPM_TOKEN: 'x' } }).success)
  assert.ok(!StartRequest.safeParse({ secrets: { LLM_API_KEY: 'x' } }).success)
})

test('a start task shows the request without secret values', () => {
  const request = StartRequest.parse({
    title: 'Parser',
    secrets: { NPM_TOKEN: 'hunter2' },
    plugins: [{ source: 'https://ada:hunter2@git.example/ada/skills' }],
  })
  const echo = echoOf(request)
  assert.doesNotMatch(JSON.stringify(echo), /hunter2|NPM_TOKEN/)
  assert.deepEqual(StartRequestEcho.parse(echo), echo)
  assert.equal(echo.title, 'Parser')
  assert.equal(echo.plugins?.[0]?.source, 'https://****@git.example/ada/skills')
})

test('a hook that is misspelt is refused instead of never running', () => {
  const hook = { matcher: '*', hooks: [{ type: 'command', command: 'npm test' }] }
  assert.ok(StartRequest.safeParse({ hook_config: { stop: [hook] } }).success)
  assert.ok(!StartRequest.safeParse({ hook_config: { stopp: [hook] } }).success)
  assert.ok(!StartRequest.safeParse({ hook_config: { stop: [{ hooks: [{ type: 'command', cmd: 'x' }] }] } }).success)
})

test('hooks are taken in the spelling of other services too', () => {
  const hook = { matcher: 'terminal', hooks: [{ type: 'command', command: 'lint' }] }
  const expected = StartRequest.parse({ hook_config: { pre_tool_use: [hook] } })
  assert.deepEqual(StartRequest.parse({ hook_config: { PreToolUse: [hook] } }), expected)
  assert.deepEqual(StartRequest.parse({ hook_config: { hooks: { PreToolUse: [hook] } } }), expected)
  assert.equal(StartRequest.parse({ hook_config: null }).hook_config, null)
})

test('a reported conversation needs its id, workspace and agent, and takes members of newer senders', () => {
  const least = {
    id: '0199F3C27A107C3E9A512F0D6B1C8E44',
    workspace: { working_dir: '/workspace' },
    agent: { llm: { model: 'openai/gpt-5' } },
  }
  const info = ConversationInfo.parse({ ...least, launched_agent_profile: { name: 'x' } })
  assert.equal(info.id, '0199f3c2-7a10-7c3e-9a51-2f0d6b1c8e44')
  assert.equal(info.max_iterations, 500)
  assert.equal(info.stuck_detection, true)
  assert.equal(info.execution_status, 'idle')
  assert.equal(info.persistence_dir, 'workspace/conversations')
  for (const field of ['id', 'workspace', 'agent']) {
    assert.ok(!ConversationInfo.safeParse({ ...least, [field]: undefined }).success, field)
  }
  assert.ok(!ConversationInfo.safeParse({ ...least, tags: { 'A-b': 'x' } }).success)
  assert.ok(!ConversationInfo.safeParse({ ...least, execution_status: 'asleep' }).success)
  const policy = (confirmation_policy: unknown) => ConversationInfo.safeParse({ ...least, confirmation_policy }).success
  assert.ok(policy({ kind: 'ConfirmRisky', threshold: 'LOW' }))
  assert.ok(!policy({ kind: 'ConfirmRisky', treshold: 'LOW' }))
  assert.ok(!policy({ kind: 'ConfirmSometimes' }))
})
