import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { Locator } from 'playwright-core'
import { controls, forms } from '../../web/src/settings/fields.ts'
import { openParley } from './open.ts'

/* What is set in the page is what the API has, field by field, and comes back into the page. */

const parley = await openParley({ scripts: { hi: { turns: [{ text: 'Hi.' }] } } })
after(() => parley[Symbol.asyncDispose]())
const { page } = parley.visitor
const { client } = parley.program
const main = page.getByRole('main')
const saved = () => main.getByText('Saved', { exact: true }).waitFor()
const save = () => main.getByRole('button', { name: 'Save', exact: true }).last().click()

const written: Record<string, unknown> = {
  email: 'ada@elsewhere.example',
  git_user_email: 'ada@commits.example',
  disabled_skills: ['one', 'two'],
  egress_hosts: ['api.example.org', '*.example.net'],
  condenser_max_size: 120,
  sandbox_base_container_image: 'registry.example/base:1',
  sandbox_runtime_container_image: 'registry.example/run:1',
}

/** Another value than the stored one, for the control at hand; null for a key, which is never read back. */
async function change(field: string, at: Locator): Promise<unknown> {
  const { kind, ...more } = controls[field as keyof typeof controls] as { kind: string; choices?: { value: string }[] }
  if (kind === 'switch') {
    await at.setChecked(!(await at.isChecked()))
    return at.isChecked()
  }
  if (kind === 'choice') {
    const value = more.choices?.at(-1)?.value ?? ''
    await at.selectOption(value)
    return value
  }
  const value = written[field] ?? (kind === 'number' ? 7 : `a-${field.replaceAll('_', '-')}`)
  const text = Array.isArray(value)
    ? value.join('\n')
    : typeof value === 'object'
      ? JSON.stringify(value)
      : String(value)
  await at.fill(text)
  return kind === 'secret' ? null : value
}

for (const [form, section] of Object.entries({ agent: 'agent', sandbox: 'sandbox', author: 'git', app: 'app' }))
  test(`every field of the form ${form} is stored as it was set, and shown again`, async () => {
    const fields = forms[form as keyof typeof forms].flatMap((group): string[] => [...group.fields])
    const at = (field: string) => main.locator(`[name="${field}"]`)
    await page.goto(`/settings/${section}`)
    const expected: Record<string, unknown> = {}
    for (const field of fields) expected[field] = await change(field, at(field))
    await save()
    await saved()
    const stored = (await client.settings.get()) as Record<string, unknown>
    for (const field of fields) assert.deepEqual(stored[field], expected[field], field)
    for (const field of fields.filter((one) => one.endsWith('_api_key'))) assert.equal(stored[`${field}_set`], true)
    await page.reload()
    for (const field of fields.filter((one) => expected[one] !== null)) {
      const value = expected[field]
      if (typeof value === 'boolean') assert.equal(await at(field).isChecked(), value, field)
      else if (typeof value !== 'object') assert.equal(await at(field).inputValue(), String(value), field)
    }
  })

test('the agent is set member by member; what is wrong is said at its field, and is not sent', async () => {
  await page.goto('/settings/advanced')
  const at = (path: string) => main.locator(`[name="${path}"]`)
  await at('llm.temperature').fill('0.4')
  await at('llm.cloud_secret_access_key').fill('a-key-that-is-kept')
  await at('stuck_detection').selectOption('false')
  await at('include_default_tools').fill('FinishTool\nThinkTool')
  await at('confirmation_policy').selectOption('ConfirmRisky')
  await at('confirmation_policy.threshold').selectOption('MEDIUM')
  await at('llm_profiles').fill('{ "other": ')
  const profiles = main.getByLabel('llm_profiles')
  await main.getByText(/^One field is not right/).waitFor()
  assert.equal(await profiles.getAttribute('aria-invalid'), 'true')
  await save()
  await at('llm_profiles').fill('{ "other": { "model": "openai/gpt-5" } }')
  await at('tool_concurrency_limit').fill('99')
  await main.getByText(/^One field is not right.*tool_concurrency_limit/).waitFor()
  await at('tool_concurrency_limit').fill('2')
  await save()
  await saved()
  const { agent_settings: stored } = await client.settings.get()
  assert.deepEqual(stored, {
    stuck_detection: false,
    tool_concurrency_limit: 2,
    include_default_tools: ['FinishTool', 'ThinkTool'],
    confirmation_policy: { kind: 'ConfirmRisky', threshold: 'MEDIUM', confirm_unknown: true },
    llm: { temperature: 0.4, cloud_secret_access_key: '**********' },
    llm_profiles: { other: { model: 'openai/gpt-5' } },
  })
  await page.reload()
  assert.equal(await at('llm.temperature').inputValue(), '0.4')
  await at('llm.temperature').fill('')
  await save()
  await saved()
  const { llm } = (await client.settings.get()).agent_settings ?? {}
  assert.deepEqual(llm, { cloud_secret_access_key: '**********' })
})

test('a model is tested before it is saved, and the failure says what to do', async () => {
  await client.settings.update({ body: { confirmation_mode: false, agent_settings: null } })
  await page.goto('/settings/model')
  await main.getByRole('button', { name: 'Test' }).click()
  await main.getByText(/answered in/).waitFor()
  await main.getByLabel('Base URL').fill('http://127.0.0.1:1/v1')
  await main.getByRole('button', { name: 'Test' }).click()
  await main.getByText(/did not answer/).waitFor()
  await main.getByText(/must not be dialled/).waitFor()
  await main.getByText(/allowed by the operator/).waitFor()
  assert.match((await client.settings.get()).llm_base_url ?? '', /v1$/)
})

test('an MCP server is added, tested and removed', async () => {
  await page.goto('/settings/mcp')
  await main.getByRole('button', { name: 'Add a server' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Address').fill('http://127.0.0.1:1/mcp')
  await dialog.getByRole('button', { name: 'Test' }).click()
  await dialog.getByText('It does not answer').waitFor()
  await dialog.getByRole('button', { name: 'Add', exact: true }).click()
  await main.getByText('http://127.0.0.1:1/mcp').waitFor()
  await main.getByRole('button', { name: 'Add a server' }).click()
  await dialog.getByLabel('Kind').selectOption('stdio')
  await dialog.getByLabel('Name').fill('files')
  await dialog.getByLabel('Command').fill('npx')
  await dialog.getByLabel('Arguments').fill('-y\nserver-files')
  await dialog.getByLabel('Environment').fill('ROOT=/workspace')
  await dialog.getByRole('button', { name: 'Add', exact: true }).click()
  await main.getByText('files: npx -y server-files').waitFor()
  const { mcp_config: config } = await client.settings.get()
  assert.deepEqual(config?.stdio_servers[0]?.args, ['-y', 'server-files'])
  assert.equal(config?.shttp_servers[0]?.url, 'http://127.0.0.1:1/mcp')
  await main.getByRole('button', { name: 'Delete http://127.0.0.1:1/mcp' }).click()
  await dialog.getByRole('button', { name: 'Delete', exact: true }).click()
  await dialog.waitFor({ state: 'detached' })
  await main.getByText('http://127.0.0.1:1/mcp').waitFor({ state: 'detached' })
})

test('a webhook that leads inside is refused; another is added with its secret shown once, switched off, and removed', async () => {
  await page.goto('/settings/webhooks')
  await main.getByRole('button', { name: 'Add a webhook' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Name').fill('Build server')
  await dialog.getByLabel('Address').fill('http://127.0.0.4/hook')
  await dialog.getByRole('button', { name: 'Add', exact: true }).click()
  await dialog.getByText('url cannot be used: 127.0.0.4 must not be dialled: it is loopback').waitFor()
  assert.equal(await dialog.getByText('must not be dialled').count(), 1, 'it is said once')
  await dialog.getByLabel('Address').fill('https://build.example/hook')
  await dialog.getByRole('button', { name: 'Add', exact: true }).click()
  assert.match((await dialog.getByTestId('shown-once').textContent()) ?? '', /^whsec_/)
  await dialog.getByRole('button', { name: 'Done' }).click()
  await main.getByText('Build server', { exact: true }).waitFor()
  await main.getByRole('button', { name: 'Deliveries' }).click()
  await main.getByText('Nothing was sent yet.').waitFor()
  await main.getByRole('button', { name: 'Switch off' }).click()
  await main.getByRole('button', { name: 'Switch on' }).waitFor()
  assert.equal((await client.webhookSubscriptions.search({ query: {} })).items[0]?.enabled, false)
  await main.getByRole('button', { name: 'Delete Build server' }).click()
  await dialog.getByRole('button', { name: 'Delete', exact: true }).click()
  await main.getByText('There is none yet.').waitFor()
})

test('a secret is added and never shown', async () => {
  await page.goto('/settings/secrets')
  await main.getByLabel('Name').fill('NPM_TOKEN')
  await main.getByLabel('Value').fill('a-value-that-must-not-show')
  await main.getByRole('button', { name: 'Add', exact: true }).click()
  await main.getByRole('button', { name: 'Delete NPM_TOKEN' }).waitFor()
  assert.ok(!(await page.content()).includes('a-value-that-must-not-show'))
})

test('the page changes its language at once, everywhere, and keeps it', async () => {
  await page.goto('/settings/profile')
  await main.getByRole('combobox', { name: 'Language' }).selectOption('de')
  await page.getByRole('heading', { name: 'Einstellungen' }).waitFor()
  await page.getByRole('link', { name: 'Unterhaltungen' }).waitFor()
  assert.equal(await page.locator('html').getAttribute('lang'), 'de')
  assert.equal((await client.settings.get()).language, 'de')
  await page.reload()
  await page.getByRole('heading', { name: 'Einstellungen' }).waitFor()
  await main.getByRole('combobox', { name: 'Sprache' }).selectOption('en')
  await page.getByRole('heading', { name: 'Settings' }).waitFor()
})

test('a browser that prefers German is greeted in German', async () => {
  await using visitor = await parley.browser.visit(parley.program.url, { locale: 'de-AT' })
  await visitor.page.goto('/')
  await visitor.page.getByRole('heading', { name: 'Anmelden' }).waitFor()
  assert.deepEqual(visitor.complaints(), [])
})

test('the browser has nothing to complain about', () => assert.deepEqual(parley.visitor.complaints(), []))
