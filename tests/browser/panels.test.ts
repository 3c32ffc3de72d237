import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { after, test } from 'node:test'
import { runs, until } from '../tools/house.ts'
import { ask, openParley } from './open.ts'

/* What stands beside the chat: a terminal of one's own, and the plan of the agent. */

const task_list = [
  { title: 'Look around', status: 'done', notes: 'the parser first' },
  { title: 'Write the answer', status: 'in_progress' },
]
const plan = '# The plan\n\n1. **Look**\n2. Write'
const parley = await openParley({
  scripts: {
    plans: {
      turns: [
        { tools: [{ name: 'task_tracker', args: { command: 'plan', task_list } }] },
        { tools: [{ name: 'file_editor', args: { command: 'create', path: '.agents_tmp/PLAN.md', file_text: plan } }] },
        runs('mkdir -p src/deep; echo one > src/one.ts; printf "a\\nb\\n" > src/deep/two.ts'),
        { text: 'Planned.' },
      ],
    },
  },
})
after(() => parley[Symbol.asyncDispose]())
const { page } = parley.visitor
const { client } = parley.program
const terminal = page.getByRole('region', { name: 'Terminal' })
const tab = (name: string) =>
  page.getByRole('navigation', { name: 'Parts of the conversation' }).getByRole('link', { name })

test('the plan is shown as tasks and as the agent wrote it', async () => {
  await ask(parley.visitor, '[[script:plans]]')
  await page.getByText('Planned.').waitFor()
  await tab('Plan').click()
  await page.getByRole('heading', { name: 'Tasks · 1 of 2 done' }).waitFor()
  await page.getByText('the parser first').waitFor()
  await page.getByRole('region', { name: 'PLAN.md' }).getByRole('heading', { name: 'The plan' }).waitFor()
})

test('changed files stand in a tree that is walked, opened and closed by keys, and one is compared in two ways', async () => {
  await tab('Changes').click()
  const tree = page.getByRole('tree', { name: 'Changed files' })
  const line = (name: RegExp) => tree.getByRole('treeitem', { name })
  await line(/two\.ts.*2 lines added, 0 removed/).waitFor()
  await page.getByText('3 files changed').waitFor()
  await tree.getByRole('treeitem', { name: /^src/ }).click()
  await line(/two\.ts/).waitFor({ state: 'detached' })
  await page.keyboard.press('ArrowRight')
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  const compared = page.getByRole('region', { name: 'Changes of src/deep/two.ts' })
  await compared.waitFor()
  assert.equal(await compared.locator('table.diff-unified').count(), 1)
  await page.getByRole('button', { name: 'Split' }).click()
  await compared.locator('table.diff-split').waitFor()
  await page.reload()
  await page.locator('table.diff-split').waitFor()
  const coming = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Download patch' }).click()
  const patch = await readFile(await (await coming).path(), 'utf8')
  assert.match(patch, /^diff --git a\/src\/deep\/two\.ts b\/src\/deep\/two\.ts$/m)
})

test('a person types into a terminal of the sandbox, and it stays open behind the other parts', async () => {
  await tab('Terminal').click()
  await terminal.getByRole('textbox', { name: 'Terminal input' }).waitFor()
  await terminal
    .getByText(/bash.*\$ /)
    .first()
    .waitFor()
  await page.keyboard.type('X=kept; printf "\\033[38;2;10;120;200m%s\\033[0m\\n" made-$((40+2)) | tee by-hand\n')
  await terminal.getByText('made-42').first().waitFor()
  const params = { id: new URL(page.url()).pathname.split('/').at(-1) ?? '' }
  await until('the file is there', 10_000, async () =>
    (await client.conversations.readFile({ params, query: { file_path: 'by-hand' } })).includes('made-42'),
  )
  await tab('Plan').click()
  await page.getByRole('heading', { name: /^Tasks/ }).waitFor()
  await tab('Terminal').click()
  await terminal.getByRole('textbox').focus()
  await page.keyboard.type('echo still-$X\n')
  await terminal.getByText('still-kept').first().waitFor()
})

test('a shell that has ended says how, and another can be opened', async () => {
  await page.keyboard.type('exit 5\n')
  await terminal.getByText('The shell has ended with 5.').waitFor()
  await terminal.getByRole('button', { name: 'Open another' }).click()
  await terminal.getByText('The shell has ended').waitFor({ state: 'detached' })
  await terminal
    .getByText(/bash.*\$ /)
    .first()
    .waitFor()
})

test('what a program in the sandbox serves is shown in a frame', async () => {
  const serve = `require('http').createServer((_, answer) => answer.setHeader('content-type', 'text/html').end('<h1>Made by hand</h1>')).listen(process.env.WORKER_1, () => console.log('up-' + 42))`
  await page.keyboard.type(`node -e "${serve}"\n`)
  await terminal.getByText('up-42').first().waitFor()
  await tab('App').click()
  await page.frameLocator('iframe').getByRole('heading', { name: 'Made by hand' }).waitFor()
  await page.getByLabel('Port').selectOption({ label: 'WORKER_2 · 8012' })
  await page.frameLocator('iframe').getByText('Nothing listens on port 8012').waitFor()
})

test('the browser has nothing to complain about', () => assert.deepEqual(parley.visitor.complaints(), []))
