import assert from 'node:assert/strict'
import { mkdirSync, readFileSync } from 'node:fs'
import { after, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright-core'
import { begin, forgeToken, runs, says } from '../tools/house.ts'
import { quiet } from './browser.ts'
import { ask, openParley } from './open.ts'
import { showcase, showcaseFiles, showcaseRepository, showcaseTask, showcaseTitle } from './showcase.ts'

/* Every screen at three widths in light and dark: pictures to look at, and what a checker of accessibility says. */

const pictures = fileURLToPath(new URL('../../build/screens/', import.meta.url))
mkdirSync(pictures, { recursive: true })
const axe = readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8')

const readable = { members: { ada: 'write' } } as const
const slowly = 'for n in 1 2 3 4 5 6 7 8 9 10 11 12; do echo "fetching package $n of 40"; done; sleep 100\n'
const parley = await openParley({
  scripts: {
    show: { turns: showcase },
    asks: { turns: [runs('npm publish --access public'), { text: 'Done.' }] },
  },
  repositories: {
    [showcaseRepository]: { ...readable, files: showcaseFiles },
    'ada/slow': { ...readable, files: { '.parley/setup.sh': slowly } },
  },
  unfilled: { 'ada/empty': readable },
  side: [
    {
      when: { lastUser: 'Which tests' },
      text: 'Those of the `parser` so far:\n\n1. `parse.test.ts`, all green\n2. `lines.test.ts`, two of nine\n\nThe rest comes after the change.',
    },
  ],
})
after(() => parley[Symbol.asyncDispose]())
const { page, context } = parley.visitor
const { client } = parley.program

const widths = { desktop: 1280, tablet: 820, phone: 390 }

interface Found {
  id: string
  impact: string | null
  nodes: { html: string; failureSummary: string }[]
}

/** What the checker says; it stays in the page until that is loaded anew. */
async function serious(on: Page): Promise<string[]> {
  if ((await on.evaluate('typeof axe')) === 'undefined') await on.evaluate(axe)
  const found = (await on.evaluate("axe.run(document, { resultTypes: ['violations'] })")) as { violations: Found[] }
  const bad = found.violations.filter(({ impact }) => impact === 'serious' || impact === 'critical')
  return bad.map(
    ({ id, nodes }) => `${id}: ${nodes.map(({ html, failureSummary }) => `${html} ${failureSummary}`).join(' | ')}`,
  )
}

/** Nothing of the page is beyond its right edge. */
const overflow = (on: Page) =>
  on.evaluate(`Math.max(...[document.documentElement, document.querySelector('main')]
    .map((element) => element.scrollWidth - element.clientWidth))`)

/** Each width and each theme is examined once: what is wrong in one pair is wrong beside it. */
const examined = new Set(['desktop light', 'phone dark'])

/** The page is loaded once; it follows its width and the theme of the system while it is open, as it does for a person. */
async function look(name: string, address: string, ready: (on: Page) => Promise<unknown>): Promise<void> {
  const problems: string[] = []
  await page.setViewportSize({ width: widths.desktop, height: 800 })
  await page.goto(address)
  await ready(page)
  await quiet(page)
  for (const [width, pixels] of Object.entries(widths)) {
    await page.setViewportSize({ width: pixels, height: 800 })
    // Nothing is asked for at another width; what is there finds its new place.
    await quiet(page, 60)
    for (const theme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme: theme, reducedMotion: 'reduce' })
      await page.locator(theme === 'dark' ? 'html.dark' : 'html:not(.dark)').waitFor({ state: 'attached' })
      await page.screenshot({ path: `${pictures}${name}-${width}-${theme}.png` })
      const wide = await overflow(page)
      if (wide !== 0) problems.push(`${width}: ${wide} pixels too wide`)
      const pair = `${width} ${theme}`
      if (examined.has(pair)) problems.push(...(await serious(page)).map((line) => `${pair}: ${line}`))
    }
  }
  assert.deepEqual(problems, [])
}

await context.addInitScript('localStorage.removeItem("parley.theme")')
// A price, so that there is something to add up.
const prices = { input_cost_per_token: 0.000_003, output_cost_per_token: 0.000_015 }
const llm = { ...prices, max_input_tokens: 20_000 }
await client.settings.update({ body: { agent_settings: { llm } } })
await client.users.createInvitation({ body: { email: 'grace@example.com' } })
await client.settings.update({
  body: { mcp_config: { shttp_servers: [{ url: 'https://mcp.example.com/mcp', api_key: 'not-a-real-key' }] } },
})
await client.webhookSubscriptions.create({
  body: { name: 'Build server', url: 'https://build.example.com/hook', types: ['conversation.finished'] },
})
await client.git.connect({ body: { provider_tokens: { open_forge: { token: forgeToken, host: parley.forge.url } } } })
const shown = await begin(
  client,
  says(`${showcaseTask} [[script:show]]`, {
    selected_repository: showcaseRepository,
    title: showcaseTitle,
    tags: { team: 'platform' },
  }),
)
const conversation = `/conversations/${shown}`
await page.goto(conversation)
await page.getByText('Finished').waitFor()
await client.settings.update({ body: { confirmation_mode: true } })
await ask(parley.visitor, '[[script:asks]]')
await page.getByRole('region', { name: 'The agent asks' }).waitFor()
const asking = new URL(page.url()).pathname
await client.secrets.create({
  body: { name: 'NPM_TOKEN', value: 'not-a-real-token', description: 'Registry of the team' },
})
await client.keys.create({ body: { name: 'Build server' } })

const heading = (name: string | RegExp) => (on: Page) => on.getByRole('heading', { name }).first().waitFor()

test('home', () => look('home', '/', heading('What shall we work on?')))
test('welcome', () => look('welcome', '/welcome', heading('Welcome to Parley')))
test('a start', async () => {
  const { id } = await client.conversations.start({
    body: says('Bring it up to date', { selected_repository: 'ada/slow' }),
  })
  await look('start', `/start/${id}`, (on) => on.getByText('fetching package 12 of 40').waitFor())
  await client.startTasks.cancel({ params: { id } })
})
test('a start that failed', async () => {
  const { id } = await client.conversations.start({ body: says('Work on it', { selected_repository: 'ada/empty' }) })
  await look('start-failed', `/start/${id}`, heading('The start failed'))
})
test('conversation', () =>
  look('conversation', conversation, async (on) => {
    await on.getByText('Shall I open a pull request?').waitFor()
    await on.getByRole('button', { name: /node --test/ }).click()
    await on.getByRole('button', { name: /Create test/ }).click()
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
test('a question beside the work', () =>
  look('beside', conversation, async (on) => {
    await on.getByLabel('Message to the agent').fill('/ask Which tests have you run so far?')
    await on.keyboard.press('Enter')
    await on.getByText('The rest comes after the change.').waitFor()
  }))
test('the context of the model', () =>
  look('context', conversation, async (on) => {
    await on.getByRole('button', { name: /of the context/ }).click()
    await on.getByRole('menuitem', { name: /Condense/ }).waitFor()
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
  await client.conversations.update({ params: { id: shown }, body: { public: true } })
  await look('shared', `/shared/${shown}`, (on) => on.getByText('Shall I open a pull request?').waitFor())
  await look('shared-gone', `/shared/${shown.slice(0, -4)}0000`, heading('This conversation is not shared'))
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
for (const section of [
  'model',
  'agent',
  'advanced',
  'sandbox',
  'mcp',
  'git',
  'secrets',
  'keys',
  'webhooks',
  'profile',
  'app',
])
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
