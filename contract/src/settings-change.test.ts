import assert from 'node:assert/strict'
import { test } from 'node:test'
import { masked } from './mcp-config.ts'
import { changedSettings, shownSettings } from './settings-change.ts'
import { defaultSettings, Settings, SettingsUpdate } from './settings.ts'
import type { StoredSettings } from './settings.ts'

const change = (stored: StoredSettings | undefined, body: unknown) =>
  changedSettings(stored, SettingsUpdate.parse(body))

test('the first change starts from the defaults of the specification', () => {
  const settings = change(undefined, { language: 'en' })
  assert.deepEqual(settings, { ...defaultSettings, language: 'en' })
  assert.equal(settings.enable_default_condenser, true)
  assert.equal(settings.enable_sound_notifications, false)
  assert.equal(settings.v1_enabled, true)
  assert.equal(settings.sandbox_grouping_strategy, 'NO_GROUPING')
})

test('what is not sent stays, null clears, and an empty text clears a key', () => {
  const stored = change(undefined, { llm_model: 'openai/gpt-5', llm_api_key: 'k', max_iterations: 7 })
  assert.equal(change(stored, { language: 'de' }).max_iterations, 7)
  assert.equal(change(stored, { max_iterations: null }).max_iterations, null)
  assert.equal(change(stored, { llm_api_key: null }).llm_api_key, 'k')
  assert.equal(change(stored, { llm_api_key: masked }).llm_api_key, 'k')
  assert.equal(change(stored, { llm_api_key: '' }).llm_api_key, null)
})

test('a key stays with the host that it was given for', () => {
  const stored = change(undefined, { llm_base_url: 'https://one.example/v1', llm_api_key: 'k' })
  assert.equal(change(stored, { llm_base_url: 'https://one.example/v2' }).llm_api_key, 'k')
  assert.equal(change(stored, { llm_base_url: 'https://two.example/v1' }).llm_api_key, null)
  assert.equal(change(stored, { llm_base_url: 'https://two.example/v1', llm_api_key: masked }).llm_api_key, null)
  assert.equal(change(stored, { llm_base_url: 'https://two.example/v1', llm_api_key: 'k2' }).llm_api_key, 'k2')
})

test('what is answered has no secret in it, and sending it back changes nothing', () => {
  const stored = change(undefined, {
    llm_api_key: 'secret-1',
    search_api_key: 'secret-2',
    mcp_config: {
      shttp_servers: [{ url: 'https://mcp.example', api_key: 'secret-3' }],
      sse_servers: [{ url: 'https://sse.example' }],
      stdio_servers: [{ name: 'files', command: 'mcp-files', env: { TOKEN: 'secret-4' } }],
    },
  })
  const shown = Settings.parse(shownSettings(stored, { open_forge: null }))
  assert.doesNotMatch(JSON.stringify(shown), /secret-\d/)
  assert.equal(shown.llm_api_key_set, true)
  assert.equal(shown.sandbox_api_key_set, false)
  assert.deepEqual(shown.provider_tokens_set, { open_forge: null })
  assert.deepEqual(change(stored, { mcp_config: shown.mcp_config }), stored)
})

test('a mask brings no key to another address, another command or another variable', () => {
  const stored = change(undefined, {
    mcp_config: {
      shttp_servers: [{ url: 'https://mcp.example', api_key: 'k' }],
      stdio_servers: [{ name: 'files', command: 'mcp-files', env: { TOKEN: 'k' } }],
    },
  })
  const moved = change(stored, {
    mcp_config: {
      shttp_servers: [{ url: 'https://evil.example', api_key: masked }],
      stdio_servers: [
        { name: 'files', command: 'env', env: { TOKEN: masked } },
        { name: 'files', command: 'mcp-files', env: { OTHER: masked } },
      ],
    },
  })
  assert.doesNotMatch(JSON.stringify(moved.mcp_config), /"k"/)
})

test('a change with a value outside its range is refused', () => {
  const bad = [
    { condenser_max_size: 19 },
    { max_iterations: 0 },
    { sandbox_grouping_strategy: 'no_grouping' },
    { llm_base_url: 'file:///etc' },
    { git_user_name: 'a\n"; id #' },
    { git_user_email: 'not an address' },
    { enable_default_condenser: null },
    { max_budget_per_task: -1 },
    { mcp_config: { stdio_servers: [{ name: 'a b', command: 'x' }] } },
    { secrets_store: { provider_tokens: { nowhere: { token: 'x' } } } },
  ]
  for (const body of bad) assert.ok(!SettingsUpdate.safeParse(body).success, JSON.stringify(body))
  assert.ok(SettingsUpdate.safeParse({ condenser_max_size: 20, llm_base_url: 'http://localhost:11434/v1' }).success)
})
