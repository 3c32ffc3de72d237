import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { runs } from '../tools/house.ts'
import { password } from './browser.ts'
import { ask, openParley } from './open.ts'

/* What only the owner of a server does in the page: letting people in and go, seeing what is used, and whether all is sound. */

const parley = await openParley({ scripts: { work: { turns: [runs('echo hi > notes.txt'), { text: 'Done.' }] } } })
after(() => parley[Symbol.asyncDispose]())
const { page } = parley.visitor
const { client } = parley.program
const main = page.getByRole('main')

test('a file of the workspace is named with @ in the answer', async () => {
  const prices = { input_cost_per_token: 0.001, output_cost_per_token: 0.001 }
  await client.settings.update({ body: { agent_settings: { llm: prices } } })
  await ask(parley.visitor, '[[script:work]] Work on this')
  await page.getByRole('log').getByText('Done.').waitFor()
  await page.getByLabel('Message to the agent').pressSequentially('Look at @no')
  await page.getByRole('option', { name: '@notes.txt' }).click()
  assert.equal(await page.getByLabel('Message to the agent').inputValue(), 'Look at @notes.txt ')
})

test('what was used is shown by day, model and conversation, as the API adds it up', async () => {
  const used = await client.usage.get({ query: {} })
  assert.ok(used.total.cost > 0)
  await page.goto('/settings/usage')
  await main.getByRole('img', { name: /^Bars of 30 days; the most is \$/ }).waitFor()
  await main.getByText('openai-compatible/scripted-1').waitFor()
  await main.getByRole('link', { name: /Work on this/ }).waitFor()
  await main.getByText('As a table').click()
  await main.getByRole('columnheader', { name: 'Day (UTC)' }).waitFor()
  await main.getByRole('button', { name: 'Tokens' }).click()
  await main.getByRole('img', { name: /the most is \d/ }).waitFor()
  await main.getByLabel('Everyone').check()
  await main.getByRole('heading', { name: 'By person' }).waitFor()
})

test('a person is invited by a link, joins, and is removed', async () => {
  await page.goto('/settings/people')
  await main.getByLabel('E-mail').fill('grace@example.com')
  await main.getByRole('button', { name: 'Make a link' }).click()
  const link = (await page.getByTestId('shown-once').textContent()) ?? ''
  await page.getByRole('button', { name: 'Done' }).click()
  await using grace = await parley.browser.visit(parley.program.url)
  await grace.page.goto(link)
  await grace.page.getByLabel('Name').fill('Grace')
  await grace.page.getByLabel('Password').fill(password)
  await grace.page.getByRole('button', { name: 'Join' }).click()
  await grace.page.getByRole('heading', { name: 'Welcome to Parley' }).waitFor()
  await grace.page.goto('/settings/usage')
  await grace.page.getByRole('button', { name: 'Download CSV' }).waitFor()
  assert.equal(await grace.page.getByRole('link', { name: 'People' }).count(), 0)
  await page.reload()
  await main.getByText('Grace', { exact: true }).waitFor()
  await main.getByRole('button', { name: 'Delete Grace' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).click()
  await main.getByText('Grace', { exact: true }).waitFor({ state: 'detached' })
  await grace.page.goto('/sandboxes')
  await grace.page.getByRole('heading', { name: 'Sign in' }).waitFor()
})

test('a sandbox says why it is as it is, and is paused and resumed', async () => {
  await page.goto('/sandboxes')
  await main.getByRole('button', { name: 'Why?' }).first().click()
  await main
    .getByRole('article')
    .first()
    .getByText(/ago|now/)
    .last()
    .waitFor()
  await main.getByRole('button', { name: 'Pause' }).first().click()
  await main.getByRole('article').getByText('Sandbox paused').first().waitFor()
  await main.getByRole('button', { name: 'Resume' }).first().click()
  await main.getByRole('article').getByText('Sandbox running').first().waitFor()
})

test('the browser has nothing to complain about', () => assert.deepEqual(parley.visitor.complaints(), []))
