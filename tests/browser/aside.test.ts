import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { eventsOf, ofKind, runs } from '../tools/house.ts'
import { ask, openParley } from './open.ts'

/* What a person does beside the work of an agent: ask what it does not hear of, and make room in its context. */

const parley = await openParley({
  scripts: { works: { turns: [runs('echo begun'), { text: 'The work is done.', hold: 'work' }] } },
  side: [
    {
      when: { lastUser: 'Which tests' },
      text: 'Only the **parser**.',
      hold: 'side',
      usage: { input: 900, output: 10 },
    },
    { when: { lastUser: 'And now' }, text: 'Still the same.' },
    { when: { lastUser: 'What breaks' }, fault: { type: 'status', status: 400, times: -1 } },
  ],
})
after(() => parley[Symbol.asyncDispose]())
const { page } = parley.visitor
const { client } = parley.program
const field = page.getByLabel('Message to the agent')
const question = page.getByLabel('Question beside the work')
const beside = page.getByRole('region', { name: 'Beside the work' })
const log = page.getByRole('log', { name: 'Conversation', exact: true })
const list = page.getByRole('listbox')
const idOf = () => new URL(page.url()).pathname.split('/').at(-1) ?? ''

test('a question that begins with /ask is answered beside the work, with its cost, and the agent does not hear of it', async () => {
  const prices = { input_cost_per_token: 0.001, output_cost_per_token: 0.001, max_input_tokens: 10_000 }
  await client.settings.update({ body: { agent_settings: { llm: prices } } })
  await ask(parley.visitor, '[[script:works]]')
  await log.getByRole('button', { name: /echo begun/ }).waitFor()
  await field.pressSequentially('/a')
  await list.getByRole('option', { name: /\/ask/ }).waitFor()
  await page.keyboard.press('Enter')
  await page.keyboard.type('Which tests have you run?')
  await page.getByText('the agent does not hear of it').waitFor()
  await page.keyboard.press('Enter')
  await beside.getByText('Asking …').waitFor()
  assert.equal(await field.inputValue(), '')
  await parley.llm.release('side')
  await beside.getByText('parser', { exact: true }).waitFor()
  await beside.getByText('scripted-1 · $0.91').waitFor()
  await page.getByRole('button', { name: 'Stop' }).waitFor()
  assert.equal(await log.getByText('Which tests').count(), 0)
  const events = await eventsOf(client, idOf())
  assert.equal(ofKind(events, 'MessageEvent').length, 1)
})

test('the palette opens the place for such questions, and Escape leaves it for the message to the agent', async () => {
  await beside.getByRole('button', { name: 'Close and forget' }).click()
  await beside.waitFor({ state: 'detached' })
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox', { name: 'Search or go to' }).fill('beside')
  await page.getByRole('option', { name: 'Ask beside the work', selected: true }).waitFor()
  await page.keyboard.press('Enter')
  await beside.waitFor()
  await page.keyboard.type('And now?')
  await page.keyboard.press('Enter')
  await beside.getByText('Still the same.').waitFor()
  await question.fill('What breaks?')
  await page.keyboard.press('Enter')
  await beside.getByRole('alert').waitFor()
  await page.keyboard.press('Escape')
  await beside.waitFor({ state: 'detached' })
  await page.keyboard.type('Thank you')
  assert.equal(await field.inputValue(), 'Thank you')
  await field.fill('')
})

test('the history is condensed on request, from the meter of the context or with /condense', async () => {
  const asked = () => log.getByText('The history is condensed before the next call of the model.')
  await page.getByRole('button', { name: /of the context$/ }).click()
  await page.getByText(/ of 10K tokens of context used/).waitFor()
  await page.getByRole('menuitem', { name: /Condense the history/ }).click()
  await asked().waitFor()
  // As fast as a person who knows the word: what was offered for its first letters is not taken.
  await field.pressSequentially('/con')
  await page.keyboard.press('Enter')
  await asked().nth(1).waitFor()
  assert.equal(await field.inputValue(), '')
  await parley.llm.release('work')
  await log.getByText('The work is done.').waitFor()
  const events = await eventsOf(client, idOf())
  assert.equal(ofKind(events, 'CondensationRequest').length, 2)
  assert.equal(ofKind(events, 'MessageEvent').filter(({ source }) => source === 'user').length, 1)
})

test('where nothing can be said any more a question can still be asked', async () => {
  const { sandbox_id } = await client.conversations.get({ params: { id: idOf() } })
  assert.ok(sandbox_id !== null)
  await client.sandboxes.delete({ params: { id: sandbox_id } })
  await page.reload()
  await page.getByText('no more can be said here').waitFor()
  await page.getByRole('button', { name: 'Ask beside the work' }).click()
  await page.keyboard.type('And now?')
  await page.keyboard.press('Enter')
  await beside.getByText('Still the same.').waitFor()
  assert.deepEqual(parley.visitor.complaints(), [])
})
