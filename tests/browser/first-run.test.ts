import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { forgeToken, llmKey } from '../tools/house.ts'
import { claim } from './browser.ts'
import { openParley } from './open.ts'

/* From the printed link to the first answer, and what the first page keeps of a draft. */

const parley = await openParley(
  {
    scripts: { hi: { turns: [{ text: 'Hello from the model.' }] } },
    repositories: {
      'ada/engine': {
        members: { ada: 'write' },
        files: { 'README.md': '# Engine\n', '.parley/setup.sh': 'echo fetching things; sleep 2\n' },
      },
    },
  },
  { fresh: true },
)
after(() => parley[Symbol.asyncDispose]())
const { page } = parley.visitor
const main = page.getByRole('main')
const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

test('the owner takes the account, and a model whose test fails says what is wrong', async () => {
  await claim(page, parley.program.said())
  await page.getByTitle('Model').click()
  await page.getByPlaceholder('Search').fill('openai-compatible/scripted-1')
  await page.getByRole('option', { name: /Use/ }).click()
  await main.getByRole('button', { name: 'Test' }).click()
  await main.getByText('openai-compatible/scripted-1 did not answer').waitFor()
  await main.getByLabel('Base URL').fill(`${parley.llm.url}/v1`)
  await main.getByLabel('API key of the model').fill(llmKey)
  await main.getByRole('button', { name: 'Test' }).click()
  await main.getByText(/answered in/).waitFor()
  await main.getByRole('button', { name: 'Save', exact: true }).click()
})

test('a Git host is connected on the way, and the first task runs on one of its repositories', async () => {
  await main.getByLabel('Kind of host').selectOption('Gitea or Forgejo')
  await main.getByLabel('Token').fill(forgeToken)
  await main.getByLabel('Address').fill(parley.forge.url)
  await main.getByRole('button', { name: 'Connect' }).click()
  await main.getByRole('button', { name: 'Disconnect' }).waitFor()
  await main.getByRole('button', { name: 'Next' }).click()
  await main.getByRole('button', { name: 'Start', exact: true }).click()
  await page.getByTitle('Repository').click()
  await page.getByRole('option', { name: /ada\/engine/ }).click()
  await page.getByTitle('Branch').click()
  await page.getByRole('option', { name: 'main', exact: true }).click()
  await page.getByLabel('Task for the agent').fill('[[script:hi]] Say hello')
  await page.keyboard.press('Enter')
  await page.getByRole('log', { name: 'What the step prints' }).getByText('fetching things').waitFor()
  await page.waitForURL(/\/conversations\/[0-9a-f-]{36}$/)
  await page.getByRole('log').getByText('Hello from the model.').waitFor()
})

test('a draft outlives the page with what was chosen beside it', async () => {
  await page.goto('/')
  const task = page.getByLabel('Task for the agent')
  await task.fill('Half a thought')
  await page.getByLabel('What the agent does').selectOption('plan')
  await page.reload()
  assert.equal(await task.inputValue(), 'Half a thought')
  assert.equal(await page.getByLabel('What the agent does').inputValue(), 'plan')
  await page.getByTitle('Repository').getByText('ada/engine').waitFor()
})

test('a command is chosen with the keyboard and written nowhere', async () => {
  const task = page.getByLabel('Task for the agent')
  await task.fill('')
  await task.pressSequentially('/ag')
  await page.getByRole('option', { name: /\/agent/ }).waitFor()
  await page.keyboard.press('Enter')
  assert.equal(await task.inputValue(), '')
  assert.equal(await page.getByLabel('What the agent does').inputValue(), 'default')
  await task.pressSequentially('/p')
  await page.getByRole('option', { name: /\/plan/ }).waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('option', { name: /\/plan/ }).waitFor({ state: 'detached' })
  await task.fill('')
})

test('a picture that is attached reaches the model', async () => {
  await page.getByTestId('attach').setInputFiles({
    name: 'pixel.png',
    mimeType: 'image/png',
    buffer: Buffer.from(pixel, 'base64'),
  })
  await page.getByRole('img', { name: 'Picture 1' }).waitFor()
  await page.getByLabel('Task for the agent').fill('[[script:hi]] What is this?')
  await page.getByRole('button', { name: 'Send' }).click()
  await page.waitForURL(/\/conversations\/[0-9a-f-]{36}$/)
  await page.getByRole('log').getByRole('img', { name: 'Attached' }).waitFor()
})

test('the browser has nothing to complain about', () => assert.deepEqual(parley.visitor.complaints(), []))
