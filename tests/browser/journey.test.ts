import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { forgeToken, runs } from '../tools/house.ts'
import { password } from './browser.ts'
import { ask, openParley } from './open.ts'

/* What a person does with the page, in a browser, against the program. */

const readable = { members: { ada: 'write' } } as const
const parley = await openParley({
  unfilled: { 'ada/empty': readable },
  scripts: {
    asks: { turns: [runs('touch made-by-me'), { text: 'It is made.' }] },
    rejected: { turns: [runs('rm -rf everything'), { text: 'I leave it.', expect: 'Not on a Friday' }] },
    slow: { turns: [runs('echo before'), { text: 'After the restart.', hold: 'slow' }] },
  },
})
after(() => parley[Symbol.asyncDispose]())
const { page } = parley.visitor
const log = page.getByRole('log')

test('a newcomer who took the account by the link sees the demo model work', async () => {
  await page.getByRole('button', { name: 'Use the demo model' }).click()
  await page.getByRole('button', { name: 'Skip' }).click()
  await page.getByRole('button', { name: 'Start', exact: true }).click()
  await page.getByTitle('Model').click()
  await page.getByPlaceholder('Search').fill('parley/demo')
  await page.getByRole('option', { name: 'parley/demo' }).click()
  await page.getByLabel('Task for the agent').fill('Show me how this works')
  await page.getByRole('button', { name: 'Send' }).click()
  await page.waitForURL(/\/conversations\//)
  await log.getByText('That was a whole run').waitFor()
  await page.getByText('Finished').waitFor()
  const call = log.getByRole('button', { name: /cat hello-from-parley\.md/ })
  await call.click()
  await log.getByText('This file was written by the demo model').last().waitFor()
  assert.match((await call.textContent()) ?? '', /exit 0/)
})

test('what the agent changed is shown as a difference, as files, and event by event', async () => {
  await page.getByRole('link', { name: 'Changes' }).click()
  await page.getByRole('region', { name: 'Changes of hello-from-parley.md' }).getByText('# Hello from Parley').waitFor()
  const line = page
    .getByRole('tree', { name: 'Changed files' })
    .getByRole('treeitem', { name: /hello-from-parley\.md/ })
  assert.match((await line.textContent()) ?? '', /lines added, 0 removed.*A/)
  await page.getByRole('link', { name: 'Files' }).click()
  await page.getByRole('button', { name: /^hello-from-parley\.md/ }).click()
  await page.getByRole('region', { name: 'hello-from-parley.md' }).getByText('# Hello from Parley').waitFor()
  await page.getByRole('link', { name: 'Events' }).click()
  await page.getByRole('link', { name: /^1\s*MessageEvent/ }).click()
  await page.waitForURL(/seq=1$/)
  await page.getByText('"llm_message"').waitFor()
  await page.getByLabel('Search in the events').fill('hello-from-parley.md TerminalAction')
  await page.getByRole('link', { name: /^1\s*MessageEvent/ }).waitFor({ state: 'detached' })
  await page.getByRole('link', { name: /ActionEvent.*cat hello-from-parley\.md/ }).waitFor()
  await page.getByLabel('Search in the events').fill('nobody ever said this')
  await page.getByText('No event that is loaded fits.').waitFor()
})

test('an action that asks is done when it is approved, and not when it is rejected', async () => {
  await page.goto('/settings/agent')
  await page.getByLabel('Ask before the agent acts').check()
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Saved').waitFor()
  await ask(parley.visitor, '[[script:asks]]')
  const card = page.getByRole('region', { name: 'The agent asks' })
  await card.getByText('touch made-by-me').waitFor()
  await card.getByRole('button', { name: 'Approve' }).click()
  await log.getByText('It is made.').waitFor()
  await ask(parley.visitor, '[[script:rejected]]')
  await card.getByRole('button', { name: 'Reject' }).click()
  await card.getByLabel(/Why not/).fill('Not on a Friday')
  await card.getByRole('button', { name: 'Reject' }).click()
  await log.getByText('rejected', { exact: true }).waitFor()
  await parley.program.client.settings.update({ body: { confirmation_mode: false } })
})

test('a page that is open while the server is killed goes on where it was', async () => {
  await ask(parley.visitor, '[[script:slow]]')
  await log.getByRole('button', { name: /echo before/ }).waitFor()
  await page.getByLabel('Message to the agent').fill('a draft that is not sent')
  await parley.program.end('SIGKILL')
  await page.getByText(/Not connected for/).waitFor()
  await parley.program.start()
  await page.getByText(/Not connected for/).waitFor({ state: 'detached' })
  await parley.llm.release('slow')
  await log.getByText('After the restart.').waitFor()
  assert.equal(await log.getByRole('button', { name: /echo before/ }).count(), 1)
  assert.equal(await page.getByLabel('Message to the agent').inputValue(), 'a draft that is not sent')
})

test('a repository is picked from a connected host, and a start that cannot succeed says why and can be tried again', async () => {
  await page.goto('/settings/git')
  await page.getByLabel('Kind of host').selectOption('Gitea or Forgejo')
  await page.getByLabel('Token').fill(forgeToken)
  await page.getByLabel('Address').fill(parley.forge.url)
  await page.getByRole('button', { name: 'Connect' }).click()
  await page.getByRole('button', { name: 'Disconnect' }).waitFor()
  await page.goto('/')
  await page.getByTitle('Repository').click()
  await page.getByRole('option', { name: /ada\/empty/ }).click()
  await page.getByLabel('Task for the agent').fill('Work on what is not there')
  await page.getByRole('button', { name: 'Send' }).click()
  await page.getByRole('heading', { name: 'The start failed' }).waitFor()
  assert.match((await page.getByRole('alert').textContent()) ?? '', /ada\/empty/)
  const before = page.url()
  await page.getByRole('button', { name: 'Retry' }).click()
  await page.waitForURL((url) => url.pathname.startsWith('/start/') && url.href !== before)
  await page.getByRole('heading', { name: 'The start failed' }).waitFor()
})

test('an API key is shown once and works', async () => {
  await page.goto('/settings/keys')
  await page.getByRole('button', { name: 'Create API Key' }).click()
  await page.getByLabel('Name').fill('Build server')
  await page.getByRole('button', { name: 'Create', exact: true }).click()
  const key = (await page.getByTestId('shown-once').textContent()) ?? ''
  const answer = await fetch(`${parley.program.url}/api/v1/users/me`, { headers: { authorization: `Bearer ${key}` } })
  assert.equal(answer.status, 200)
  await page.getByRole('button', { name: 'Done' }).click()
  await page.getByText('Build server').waitFor()
  assert.ok(!(await page.content()).includes(key))
})

test('conversations are found by title, opened from the palette, and deleted', async () => {
  await page.goto('/conversations')
  await page.getByLabel('Search by title').fill('how this works')
  await page
    .getByRole('main')
    .getByRole('link', { name: /Show me how this works/ })
    .waitFor()
  await page
    .getByRole('main')
    .getByRole('link', { name: /script:asks/ })
    .waitFor({ state: 'detached' })
  await page.keyboard.press('Control+k')
  await page.getByPlaceholder(/title of a conversation/).fill('hw thsworks')
  await page.getByRole('option', { name: 'Show me how this works' }).click()
  await page.waitForURL(/\/conversations\/[0-9a-f-]{36}$/)
  await page.getByRole('button', { name: 'More' }).click()
  await page.getByRole('menuitem', { name: 'Delete' }).click()
  await page.getByRole('button', { name: 'Delete', exact: true }).click()
  await page.waitForURL(/\/conversations$/)
  await page
    .getByRole('main')
    .getByRole('link', { name: /Show me how this works/ })
    .waitFor({ state: 'detached' })
})

test('signing out closes the page, and signing in leads back', async () => {
  await page.goto('/sandboxes')
  await page.getByRole('button', { name: /^Account of/ }).click()
  await page.getByRole('menuitem', { name: 'Sign out' }).click()
  await page.waitForURL(/\/sign-in/)
  await page.goto('/sandboxes')
  await page.waitForURL(/\/sign-in\?next=/)
  await page.getByLabel('E-mail').fill('ada@example.com')
  await page.getByLabel('Password').fill(password)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await page.getByRole('heading', { name: 'Sandboxes' }).waitFor()
})

test('the browser has nothing to complain about', () => {
  const away = /net::ERR_/
  assert.deepEqual(
    parley.visitor.complaints().filter((line) => !away.test(line)),
    [],
  )
})
