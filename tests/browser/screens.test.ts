import assert from 'node:assert/strict'
import { mkdirSync, readFileSync } from 'node:fs'
import { after, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright-core'
import { runs } from '../tools/house.ts'
import { quiet } from './browser.ts'
import { ask, openParley } from './open.ts'

/* Every screen at three widths in light and dark: pictures to look at, and what a checker of accessibility says. */

const pictures = fileURLToPath(new URL('../../build/screens/', import.meta.url))
mkdirSync(pictures, { recursive: true })
const axe = readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8')

const colours =
  'printf "\\033[31mred\\033[0m \\033[1;32mgreen\\033[0m\\n"; git init -q; echo "# Title" > README.md; exit 3'
const task_list = [
  { title: 'Look around', status: 'done', notes: 'the parser first' },
  { title: 'Write the answer', status: 'in_progress' },
  { title: 'Test it', status: 'todo' },
]
const parley = await openParley({
  scripts: {
    talk: {
      turns: [
        { text: 'First I look:\n\n- one\n- two\n\n```ts\nconst answer = 42\n```', ...runs(colours) },
        { tools: [{ name: 'task_tracker', args: { command: 'plan', task_list } }] },
        {
          tools: [
            {
              name: 'file_editor',
              args: { command: 'create', path: 'src/answer.ts', file_text: 'export const answer = 42\n' },
            },
          ],
        },
        { text: '## Done\n\nSee [the docs](https://example.com) and `README.md`.\n\n| a | b |\n|---|---|\n| 1 | 2 |' },
      ],
    },
    asks: { turns: [runs('npm publish --access public'), { text: 'Done.' }] },
  },
})
after(() => parley[Symbol.asyncDispose]())
const { page, context } = parley.visitor
const { client } = parley.program

const widths = { phone: 390, tablet: 820, desktop: 1280 }

interface Found {
  id: string
  impact: string | null
  nodes: { html: string; failureSummary: string }[]
}

async function serious(on: Page): Promise<string[]> {
  const found = (await on.evaluate(`${axe}\naxe.run(document, { resultTypes: ['violations'] })`)) as {
    violations: Found[]
  }
  const bad = found.violations.filter(({ impact }) => impact === 'serious' || impact === 'critical')
  return bad.map(
    ({ id, nodes }) => `${id}: ${nodes.map(({ html, failureSummary }) => `${html} ${failureSummary}`).join(' | ')}`,
  )
}

/** Nothing of the page is beyond its right edge. */
const overflow = (on: Page) =>
  on.evaluate(`Math.max(...[document.documentElement, document.querySelector('main')]
    .map((element) => element.scrollWidth - element.clientWidth))`)

async function look(name: string, address: string, ready: (on: Page) => Promise<unknown>): Promise<void> {
  const problems: string[] = []
  for (const [width, pixels] of Object.entries(widths)) {
    await page.setViewportSize({ width: pixels, height: 800 })
    await page.goto(address)
    await ready(page)
    await quiet(page)
    for (const theme of ['light', 'dark'] as const) {
      // The page follows the system while it is open, too.
      await page.emulateMedia({ colorScheme: theme, reducedMotion: 'reduce' })
      await page.locator(theme === 'dark' ? 'html.dark' : 'html:not(.dark)').waitFor({ state: 'attached' })
      await page.screenshot({ path: `${pictures}${name}-${width}-${theme}.png` })
      const wide = await overflow(page)
      if (wide !== 0) problems.push(`${width}: ${wide} pixels too wide`)
      if (width !== 'tablet') problems.push(...(await serious(page)).map((line) => `${theme} ${width}: ${line}`))
    }
  }
  assert.deepEqual(problems, [])
}

await context.addInitScript('localStorage.removeItem("parley.theme")')
// A price, so that there is something to add up.
const prices = { input_cost_per_token: 0.000_003, output_cost_per_token: 0.000_015 }
await client.settings.update({ body: { agent_settings: { llm: prices } } })
await client.users.createInvitation({ body: { email: 'grace@example.com' } })
await client.settings.update({
  body: { mcp_config: { shttp_servers: [{ url: 'https://mcp.example.com/mcp', api_key: 'not-a-real-key' }] } },
})
await client.webhookSubscriptions.create({
  body: { name: 'Build server', url: 'https://build.example.com/hook', types: ['conversation.finished'] },
})
await ask(parley.visitor, '[[script:talk]] Please look around and say what you see')
await page.getByText('Finished').waitFor()
const conversation = new URL(page.url()).pathname
await client.settings.update({ body: { confirmation_mode: true } })
await ask(parley.visitor, '[[script:asks]]')
await page.getByRole('region', { name: 'The agent asks' }).waitFor()
const asking = new URL(page.url()).pathname
await client.secrets.create({
  body: { name: 'NPM_TOKEN', value: 'not-a-real-token', description: 'Registry of the team' },
})
await client.keys.create({ body: { name: 'Build server' } })

const heading = (name: string | RegExp) => (on: Page) => on.getByRole('heading', { name }).first().waitFor()

test('home', () => look('home', '/', (on) => on.getByRole('region', { name: 'Recent conversations' }).waitFor()))
test('welcome', () => look('welcome', '/welcome', heading('Welcome to Parley')))
test('conversation', () =>
  look('conversation', conversation, async (on) => {
    await on.getByRole('heading', { name: 'Done' }).waitFor()
    await on.getByRole('button', { name: /printf/ }).click()
    await on.getByRole('button', { name: /Create/ }).click()
  }))
test('confirmation', () =>
  look('confirmation', asking, (on) => on.getByRole('region', { name: 'The agent asks' }).waitFor()))
test('an action that is edited', () =>
  look('confirmation-edit', asking, async (on) => {
    await on.getByRole('button', { name: 'Edit' }).click()
    await on.getByLabel('Command').waitFor()
  }))
for (const name of ['Share', 'Fork', 'Rename and label'])
  test(`dialog: ${name}`, () =>
    look(`dialog-${name.split(' ')[0]?.toLowerCase()}`, conversation, async (on) => {
      await on.getByRole('button', { name: 'More' }).click()
      await on.getByRole('menuitem', { name, exact: true }).click()
      await on.getByRole('dialog').waitFor()
    }))
test('plan', () => look('plan', `${conversation}?tab=plan`, heading(/^Tasks/)))
test('terminal', () =>
  look('terminal', `${conversation}?tab=terminal`, (on) =>
    on
      .getByRole('region', { name: 'Terminal' })
      .getByText(/bash.*\$ /)
      .first()
      .waitFor(),
  ))
test('app', () =>
  look('app', `${conversation}?tab=app`, (on) =>
    on
      .frameLocator('iframe')
      .getByText(/Nothing listens/)
      .waitFor(),
  ))
test('shared', async () => {
  const id = conversation.split('/').at(-1) ?? ''
  await client.conversations.update({ params: { id }, body: { public: true } })
  await look('shared', `/shared/${id}`, heading('Done'))
  await look('shared-gone', `/shared/${id.slice(0, -4)}0000`, heading('This conversation is not shared'))
})
test('changes', () =>
  look('changes', `${conversation}?tab=changes`, (on) => on.getByRole('region', { name: /^Changes of/ }).waitFor()))
test('files', () =>
  look('files', `${conversation}?tab=files`, (on) =>
    on
      .getByRole('button', { name: /README/ })
      .last()
      .waitFor(),
  ))
test('events', () =>
  look('events', `${conversation}?tab=events&seq=1`, (on) => on.getByText('"llm_message"').waitFor()))
test('conversations', () => look('list', '/conversations', heading('Conversations')))
test('sandboxes', () =>
  look('sandboxes', '/sandboxes', (on) => on.getByRole('article').getByText('Sandbox running').first().waitFor()))
for (const section of ['model', 'agent', 'sandbox', 'mcp', 'git', 'secrets', 'keys', 'webhooks', 'profile', 'app'])
  test(`settings: ${section}`, () => look(`settings-${section}`, `/settings/${section}`, heading('Settings')))
test('settings: usage', () =>
  look('settings-usage', '/settings/usage', (on) => on.getByRole('img', { name: /^Bars of/ }).waitFor()))
test('settings: people', () =>
  look('settings-people', '/settings/people', (on) => on.getByText('grace@example.com').waitFor()))
test('settings: server', () =>
  look('settings-server', '/settings/server', async (on) => {
    await on.getByText('sandboxes.per_user').waitFor()
    await on.getByRole('button', { name: 'Examine' }).click()
    await on.getByText('database', { exact: true }).waitFor()
  }))
test('palette', () =>
  look('palette', '/conversations', async (on) => {
    await heading('Conversations')(on)
    await on.keyboard.press('Control+k')
    await on.getByRole('dialog').getByRole('option').first().waitFor()
  }))
test('sign-in', async () => {
  await client.users.signOut({ query: { everywhere: 'true' } })
  await look('sign-in', '/sign-in', heading('Sign in'))
})
