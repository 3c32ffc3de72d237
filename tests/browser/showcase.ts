import { runs } from '../tools/house.ts'

/* One conversation as it could have been: a small repository, and what an agent did to it. For pictures to look at. */

const client = `/** The JSON at an address. Rejects with the status when the answer is no success. */
export async function getJson(url, { fetch = globalThis.fetch } = {}) {
  const response = await fetch(url)
  if (!response.ok) throw new Error(\`\${url} answered \${response.status}\`)
  return response.json()
}
`
const clientTest = `import assert from 'node:assert/strict'
import { test } from 'node:test'
import { getJson } from '../src/client.js'

test('an answer is read as JSON', async () => {
  const fetch = async () => Response.json({ answer: 42 })
  assert.deepEqual(await getJson('https://api.example', { fetch }), { answer: 42 })
})
`
const backoff = `/** Milliseconds to wait before try \`attempt\`, from 1: twice as long each time, and never the same for two callers. */
export function backoff(attempt, { base = 200, most = 10_000, random = Math.random } = {}) {
  const ceiling = Math.min(most, base * 2 ** (attempt - 1))
  return ceiling / 2 + (random() * ceiling) / 2
}
`
const call = `  const response = await fetch(url)
  if (!response.ok) throw new Error(\`\${url} answered \${response.status}\`)
  return response.json()
`
const calls = `  for (let attempt = 1; ; attempt += 1) {
    const response = await fetch(url)
    if (response.ok) return response.json()
    const passes = response.status === 429 || response.status >= 500
    if (!passes || attempt > retries) throw new Error(\`\${url} answered \${response.status}\`)
    await wait(backoff(attempt))
  }
`
const retryTest = `import assert from 'node:assert/strict'
import { test } from 'node:test'
import { getJson } from '../src/client.js'

const wait = async () => {}
const answers = (...statuses) => async () => Response.json({}, { status: statuses.shift() })

test('a request that fails for a while is made again', async () => {
  assert.deepEqual(await getJson('https://api.example', { fetch: answers(503, 429, 200), wait }), {})
})

test('a mistake of the caller is not repeated', async () => {
  await assert.rejects(getJson('https://api.example', { fetch: answers(404, 200), wait }), /answered 404/)
})

test('it gives up after three retries', async () => {
  await assert.rejects(getJson('https://api.example', { fetch: answers(500, 500, 500, 500, 200), wait }), /answered 500/)
})
`
const summary = `Requests that fail for a while are now **made again**, up to three times, each time after a longer pause.

| Answer | Before | Now |
|---|---|---|
| \`429\`, \`5xx\` | fails at once | 3 retries, 0.2 s to 10 s apart |
| other \`4xx\` | fails at once | fails at once |

- \`src/backoff.js\` computes the pause, with jitter so that clients do not return together.
- \`getJson\` takes \`retries\` and \`wait\`, so tests need no real time.

All 4 tests pass. Shall I open a pull request?`

const steps = ['Read the client and its tests', 'Back off between tries', 'Retry what passes', 'Test it']
const plan = (done: number) => ({
  name: 'task_tracker',
  args: {
    command: 'plan',
    task_list: steps.map((title, index) => ({
      title,
      status: index < done ? 'done' : index === done ? 'in_progress' : 'todo',
    })),
  },
})
const edits = (args: object) => ({ tools: [{ name: 'file_editor', args }] })

export const showcaseRepository = 'ada/http-client'
export const showcaseTitle = 'Retry requests that fail for a while'
export const showcaseTask =
  'Requests that answer 429 or 5xx should be retried with exponential backoff and jitter. Keep the API as it is, and add tests.'

export const showcaseFiles = {
  'README.md': '# http-client\n\nA small client for JSON APIs.\n',
  'package.json': '{ "name": "http-client", "type": "module", "scripts": { "test": "node --test" } }\n',
  'src/client.js': client,
  'test/client.test.js': clientTest,
}

/** The turns of the model. */
export const showcase = [
  {
    text: 'I will look at the client and at how it is tested.',
    ...runs('git log --oneline; ls src test; cat src/client.js'),
  },
  { tools: [plan(1)] },
  edits({ command: 'create', path: 'src/backoff.js', file_text: backoff }),
  edits({
    command: 'str_replace',
    path: 'src/client.js',
    old_str: 'export async function getJson(url, { fetch = globalThis.fetch } = {}) {\n',
    new_str:
      'export async function getJson(url, { fetch = globalThis.fetch, retries = 3, wait = setTimeout } = {}) {\n',
  }),
  edits({ command: 'str_replace', path: 'src/client.js', old_str: call, new_str: calls }),
  edits({
    command: 'insert',
    path: 'src/client.js',
    insert_line: 0,
    new_str: "import { setTimeout } from 'node:timers/promises'\nimport { backoff } from './backoff.js'\n\n",
  }),
  {
    text: 'Now the tests: one for each kind of answer.',
    ...edits({ command: 'create', path: 'test/retry.test.js', file_text: retryTest }),
  },
  runs('node --test'),
  { tools: [plan(4)] },
  { text: summary },
]
