import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { after, test } from 'node:test'
import { runs, until } from '../tools/house.ts'
import { ask, openParley } from './open.ts'

/* What a person does with one conversation: answer what is asked, branch off, share, take it along. */

const two = {
  tools: ['echo first > first.txt', 'echo second > second.txt'].map((command) => ({
    name: 'terminal',
    args: { command },
  })),
}
const secret = 'hush-hush-5c02b7e14d90'
const parley = await openParley({
  scripts: {
    asks: { turns: [{ text: 'Two things.', ...two }, { text: 'All answered.' }] },
    talk: {
      turns: [
        { text: 'I look.', ...runs('echo "token is $NPM_TOKEN"; printf "\\033[32mgreen\\033[0m\\n"') },
        { text: '## Finished\n\nAll is `well`.' },
      ],
    },
    held: { turns: [{ text: 'Never said.', hold: 'held' }] },
    busy: { turns: [{ ...runs('echo started') }, { text: 'Both are read.', hold: 'busy' }] },
  },
})
after(() => parley[Symbol.asyncDispose]())
const { page, context } = parley.visitor
const { client } = parley.program
const log = page.getByRole('log')
const idOf = () => new URL(page.url()).pathname.split('/').at(-1) ?? ''
const file = (id: string, path: string) => client.conversations.readFile({ params: { id }, query: { file_path: path } })

test('of two actions one is approved with another command, and the other rejected with a reason', async () => {
  await client.settings.update({ body: { confirmation_mode: true } })
  await ask(parley.visitor, '[[script:asks]]')
  const card = page.getByRole('region', { name: 'The agent asks' })
  await card.getByRole('button', { name: 'Edit' }).first().click()
  await card.getByLabel('Command').fill('echo changed > first.txt')
  await card.getByRole('checkbox').last().uncheck()
  await card.getByRole('button', { name: 'Approve 1' }).click()
  await card.getByText('echo first').waitFor({ state: 'detached' })
  assert.equal(await card.getByText('echo second').count(), 1)
  await card.getByRole('button', { name: 'Reject' }).click()
  await card.getByLabel(/Why not/).fill('One is enough')
  await card.getByRole('button', { name: 'Reject' }).click()
  await log.getByText('rejected', { exact: true }).waitFor()
  await client.settings.update({ body: { confirmation_mode: false } })
  assert.equal(await file(idOf(), 'first.txt'), 'changed\n')
  await assert.rejects(file(idOf(), 'second.txt'), { code: 'not_found' })
})

test('a message that comes while the agent works is shown as queued until it is read', async () => {
  await ask(parley.visitor, '[[script:busy]]')
  await log.getByRole('button', { name: /echo started/ }).waitFor()
  await page.getByText('Working').waitFor()
  await page.getByLabel('Message to the agent').fill('And one thing more')
  await page.keyboard.press('Enter')
  await log.getByText(/^Queued/).waitFor()
  await parley.llm.release('busy')
  await log.getByText('Both are read.').waitFor()
  await log.getByText(/^Queued/).waitFor({ state: 'detached' })
})

test('what can be done here is found by a few letters of its name, and done', async () => {
  await ask(parley.visitor, '[[script:held]]')
  await page.getByText('Working').waitFor()
  const palette = page.getByRole('dialog', { name: 'Search or go to' })
  const choose = async (words: string, name: string) => {
    await page.keyboard.press('Control+k')
    await palette.getByRole('combobox').fill(words)
    await palette.getByRole('option', { name, selected: true }).waitFor()
    await page.keyboard.press('Enter')
    await palette.waitFor({ state: 'detached' })
  }
  await choose('agent stop', 'Agent: Stop')
  const params = { id: idOf() }
  await until('it has stopped', 10_000, async () => {
    const { execution_status } = await client.conversations.get({ params })
    return execution_status !== 'running'
  })
  await choose('shw plan', 'Show: Plan')
  await page.getByText('The agent has made no plan yet.').waitFor()
  await choose('drk col', 'Dark colours')
  await page.locator('html.dark').waitFor({ state: 'attached' })
  await choose('lang deu', 'Language: Deutsch')
  await page.getByRole('link', { name: 'Neue Unterhaltung' }).waitFor()
  await page.evaluate('localStorage.clear()')
})

test('a turn says what it took, and from any event one can branch off', async () => {
  await client.secrets.create({ body: { name: 'NPM_TOKEN', value: secret } })
  await ask(parley.visitor, '[[script:talk]] Please look')
  await log.getByRole('heading', { name: 'Finished' }).waitFor()
  await log.getByText(/^Took .* · .* tokens/).waitFor()
  const before = idOf()
  const said = log.getByRole('article', { name: 'Agent' }).first()
  await said.hover()
  await said.getByRole('button', { name: 'Fork from here' }).click()
  await page.getByLabel('Title of the fork').fill('Another way')
  await page.getByRole('button', { name: 'Fork', exact: true }).click()
  await page.getByRole('heading', { level: 1, name: 'Another way' }).waitFor()
  assert.notEqual(idOf(), before)
  await log.getByText('I look.').waitFor()
  assert.equal(await log.getByRole('heading', { name: 'Finished' }).count(), 0)
  await page.goBack()
  await log.getByRole('heading', { name: 'Finished' }).waitFor()
})

test('a shared conversation is read without signing in, without secrets, until the sharing ends', async () => {
  const id = idOf()
  await page.getByRole('button', { name: 'More' }).click()
  await page.getByRole('menuitem', { name: 'Share' }).click()
  await page.getByLabel('Anyone with the link can read it').click()
  const address = await page.getByLabel('Link', { exact: true }).inputValue()
  assert.equal(address, `${parley.program.url}/shared/${id}`)
  await using stranger = await parley.browser.visit(parley.program.url)
  const theirs = stranger.page.getByRole('log')
  await stranger.page.goto(address)
  await theirs.getByRole('heading', { name: 'Finished' }).waitFor()
  await theirs.getByRole('button', { name: /token is/ }).click()
  await theirs.getByText('green').last().waitFor()
  assert.ok(!(await stranger.page.content()).includes(secret))
  assert.equal(await stranger.page.getByRole('button', { name: 'Fork from here' }).count(), 0)
  await page.getByLabel('Anyone with the link can read it').click()
  await until(
    'it is private again',
    10_000,
    async () => (await client.conversations.get({ params: { id } })).public !== true,
  )
  await stranger.page.reload()
  await stranger.page.getByRole('heading', { name: 'This conversation is not shared' }).waitFor()
  assert.deepEqual(stranger.complaints(), [])
  await page.getByRole('button', { name: 'Done' }).click()
})

test('a conversation is taken along as a text', async () => {
  await page.getByRole('button', { name: 'More' }).click()
  const coming = page.waitForEvent('download')
  await page.getByRole('menuitem', { name: 'Export as Markdown' }).click()
  const text = await readFile(await (await coming).path(), 'utf8')
  assert.match(text, /^> .*Please look/m)
  assert.match(text, /^```\n\$ echo "token is/m)
  assert.match(text, /^green$/m)
  assert.match(text, /^## Finished$/m)
})

test('a conversation gets another title and labels', async () => {
  await page.getByRole('button', { name: 'More' }).click()
  await page.getByRole('menuitem', { name: 'Rename and label' }).click()
  await page.getByLabel('Title').fill('Looked around')
  await page.getByLabel('Labels').fill('Team: parsers')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText(/A label is/).waitFor()
  await page.getByLabel('Labels').fill('team: parsers\nround: 2')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('heading', { name: 'Looked around' }).waitFor()
  const { tags } = await client.conversations.get({ params: { id: idOf() } })
  assert.deepEqual(tags, { team: 'parsers', round: '2' })
})

test('conversations are found by their labels', async () => {
  const link = (name: RegExp) => page.getByRole('main').getByRole('link', { name })
  await page.goto('/conversations')
  await link(/script:busy/).waitFor()
  await page.getByLabel('Label', { exact: true }).fill('team: parsers')
  await link(/script:busy/).waitFor({ state: 'detached' })
  await link(/Looked around.*team: parsers/).waitFor()
  await page.getByLabel('Label', { exact: true }).fill('team: others')
  await page.getByText('No conversation fits.').waitFor()
  const count = (tag__eq: string) => client.conversations.count({ query: { tag__eq } })
  assert.deepEqual(
    [await count('round'), await count('round:2'), await count('round:'), await count('none')],
    [1, 1, 0, 0],
  )
})

test('the browser has nothing to complain about', () => {
  assert.deepEqual(parley.visitor.complaints(), [])
  assert.equal(context.pages().length, 1)
})
