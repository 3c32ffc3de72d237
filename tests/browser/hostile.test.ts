import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { quiet } from './browser.ts'
import { ask, openParley } from './open.ts'
import { hostile } from './payloads.ts'

/* What others write is shown and never done. */

const all = hostile.join('\n\n')
const printing = `cat > payload.txt <<'END-OF-PAYLOAD'\n${all}\nEND-OF-PAYLOAD\ncat payload.txt; git init -q . ; : > '<img src=x onerror=hit()>.txt'`
const parley = await openParley({
  scripts: {
    says: { turns: [{ text: all, tools: [{ name: 'terminal', args: { command: printing } }] }, { text: all }] },
  },
})
after(() => parley[Symbol.asyncDispose]())
const { page } = parley.visitor
const hits: string[] = []
await page.exposeFunction('hit', (what: unknown) => void hits.push(String(what)))
const log = page.getByRole('log')

const nothingHappened = () => {
  assert.deepEqual(hits, [])
  assert.deepEqual(parley.visitor.complaints(), [])
}

test('what a model writes and a command prints is text', async () => {
  await ask(parley.visitor, `[[script:says]] ${hostile.slice(0, 20).join(' ')}`)
  await page.getByText('Finished').waitFor()
  for (const [index] of (await log.getByRole('button', { expanded: false }).all()).entries())
    await log
      .getByRole('button', { expanded: false })
      .nth(index)
      .click({ timeout: 2000 })
      .catch(() => undefined)
  await quiet(page)
  const inside = (selector: string) => log.locator(selector).count()
  for (const selector of [
    'script',
    'iframe',
    'object',
    'embed',
    'form',
    'style',
    'link',
    'meta',
    'base',
    'svg [onload]',
    'img',
  ])
    assert.equal(await inside(selector), 0, selector)
  const addresses = await log
    .locator('a')
    .evaluateAll((links) => links.map((link) => (link as { protocol: string }).protocol))
  assert.deepEqual(
    [...new Set(addresses)].filter((protocol) => !/^https?:$/.test(protocol)),
    [],
  )
  nothingHappened()
})

test('HTML is shown as it was written, and characters that turn the reading order around are written out', async () => {
  const text = await log.textContent()
  assert.ok(text?.includes('<script>hit(1)</script>'), 'HTML is shown as it was written')
  assert.ok(text?.includes('\u2039U+202E\u203a'))
  // oxlint-disable-next-line no-control-regex -- these must not be there
  // oxlint-disable-next-line no-control-regex -- these are what is looked for
  assert.doesNotMatch(text ?? '', /[\u202a-\u202e\u2066-\u2069\u200b]|\u001b|\u009b/)
})

test('files, changes and events with such names and contents are text', async () => {
  for (const tab of ['Changes', 'Files', 'Plan', 'Events']) {
    await page.getByRole('link', { name: tab }).click()
    await quiet(page)
  }
  await page
    .getByRole('link', { name: /ObservationEvent/ })
    .first()
    .click()
  await quiet(page)
  nothingHappened()
})

test('such titles are text in the list, the palette, the tab and the page itself', async () => {
  const { client } = parley.program
  const id = page.url().split('/').at(-1)?.split('?')[0] ?? ''
  for (const title of hostile.slice(0, 16)) {
    await client.conversations.update({ params: { id }, body: { title } })
    await page.goto('/conversations')
    await page
      .getByRole('link', { name: /now|ago|Finished/ })
      .first()
      .waitFor()
  }
  await page.keyboard.press('Control+k')
  await page.getByRole('dialog').getByRole('option').first().waitFor()
  await page.goto(`/conversations/${id}`)
  await page.getByRole('heading', { level: 1 }).waitFor()
  nothingHappened()
})

test('the policy of the page allows its own files only', async () => {
  const answer = await fetch(parley.program.url, { headers: { accept: 'text/html' } })
  const policy = answer.headers.get('content-security-policy') ?? ''
  assert.match(policy, /default-src 'none'/)
  assert.match(policy, /script-src 'self'(;|$)/)
  assert.match(policy, /style-src 'self'(;|$)/)
  assert.doesNotMatch(policy, /unsafe/)
  assert.match(policy, /frame-ancestors 'none'/)
})
