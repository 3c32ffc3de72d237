import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ask, modelAt, result, system, textOf, user } from './conformance.ts'
import type { Message, ModelPart } from './model.ts'

const demo = modelAt({ model: 'parley/demo' })

/** The model's answer as it goes into the history, with the result of its call. */
function taken(parts: readonly ModelPart[]): Message[] {
  const call = parts.find((part) => part.type === 'tool-call')
  const said: Message = { role: 'assistant', parts: [{ type: 'text', text: textOf(parts) }, ...(call ? [call] : [])] }
  return call ? [said, result(call.id)] : [said]
}

async function run(history: Message[]): Promise<string[]> {
  const commands: string[] = []
  for (let step = 0; step < 10; step++) {
    const parts = await ask(demo, history)
    history.push(...taken(parts))
    const call = parts.find((part) => part.type === 'tool-call')
    if (call?.type !== 'tool-call') return commands
    commands.push((JSON.parse(call.arguments) as { command: string }).command)
  }
  throw new Error('the demo does not end')
}

test('a first run needs no key, says that it is scripted, looks, writes a file, shows it and ends', async () => {
  const history = [system('s'), user('Please fix my bug.')]
  const commands = await run(history)
  assert.equal(commands.length, 3)
  assert.match(commands[0] ?? '', /ls/)
  assert.match(commands[1] ?? '', /> hello-from-parley\.md/)
  assert.match(commands[2] ?? '', /^cat hello/)
  const first = history[2]?.parts[0]
  assert.ok(first?.type === 'text')
  assert.match(first.text, /script, not a language model/)
  assert.match(first.text, /API key/)
})

test('a later message is answered with what the demo can do, and a command in it is run', async () => {
  const history = [system('s'), user('Hello.')]
  await run(history)
  history.push(user('Refactor everything.'))
  assert.deepEqual(await run(history), [])
  assert.match(JSON.stringify(history.at(-1)), /run git status/)
  history.push(user('run `git log --oneline`'))
  assert.deepEqual(await run(history), ['git log --oneline'])
  const began = performance.now()
  history.push(user(`${'\n'.repeat(200_000)}and run: ls ${'\n'.repeat(200_000)}x`))
  assert.deepEqual(await run(history), [])
  assert.ok(performance.now() - began < 5_000, 'a message of nothing but space holds everything up')
})

test('a run that is taken over goes on where the history stands', async () => {
  const history = [system('s'), user('Hello.')]
  history.push(...taken(await ask(demo, history)))
  const again = await ask(modelAt({ model: 'parley/demo' }), history)
  assert.match(JSON.stringify(again), /> hello-from-parley\.md/)
})

test('without tools the demo answers in text', async () => {
  const parts = await ask(demo, [user('A title, please.')], { tools: [] })
  assert.equal(parts.at(-1)?.type, 'finish')
  assert.ok(textOf(parts).length > 0 && !parts.some(({ type }) => type === 'tool-call'))
})
