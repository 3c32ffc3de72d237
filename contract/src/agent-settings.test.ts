import assert from 'node:assert/strict'
import { test } from 'node:test'
import { masked } from './mcp-config.ts'
import { changedSettings, shownSettings } from './settings-change.ts'
import { defaultSettings, Settings, SettingsUpdate, type StoredSettings } from './settings.ts'

const change = (stored: StoredSettings, body: unknown) => changedSettings(stored, SettingsUpdate.parse(body))
const shown = (settings: StoredSettings) => Settings.parse(shownSettings(settings, {})).agent_settings

const vendor = { kind: 'VendorAnalyzer', api_url: 'https://judge.example', api_key: 'secret-1', on_failure: 'high' }
const everything = {
  llm: {
    temperature: 0.2,
    cloud_region_name: 'eu-west-1',
    cloud_secret_access_key: 'secret-2',
    extra_headers: { 'x-team': 'secret-3' },
    fallback_strategy: { fallback_llms: ['spare'] },
  },
  llm_profiles: { spare: { model: 'openai/gpt-5', api_key: 'secret-4' } },
  security_analyzer: { kind: 'EnsembleSecurityAnalyzer', analyzers: [vendor] },
  critic: { kind: 'APIBasedCritic', api_url: 'https://critic.example', api_key: 'secret-5' },
  condenser: { kind: 'LLMSummarizingCondenser', llm: { model: 'openai/gpt-5-mini', api_key: 'secret-6' } },
}
const stored = change(defaultSettings, { agent_settings: everything })

test('no key of the agent is answered, and what was answered can be sent back', () => {
  const answered = shown(stored)
  assert.doesNotMatch(JSON.stringify(answered), /secret-\d/)
  assert.equal(JSON.stringify(answered).split(masked).length - 1, 6)
  assert.deepEqual(change(stored, { agent_settings: answered }), stored)
  assert.deepEqual(change(stored, { language: 'de' }).agent_settings, stored.agent_settings)
  assert.equal(change(stored, { agent_settings: null }).agent_settings, null)
})

test('asterisks bring no key to another host, provider or place', () => {
  const answered = shown(stored)
  const moved = change(stored, {
    agent_settings: {
      ...answered,
      llm: { ...answered?.llm, cloud_runtime_endpoint: 'https://evil.example' },
      llm_profiles: { spare: { model: 'mistral/large', api_key: masked } },
      security_analyzer: { ...vendor, api_url: 'https://evil.example', api_key: masked },
      critic: { ...everything.critic, api_url: 'https://evil.example', api_key: masked },
      condenser: { kind: 'LLMSummarizingCondenser', llm: { model: 'x/y', api_key: masked } },
    },
  })
  assert.doesNotMatch(JSON.stringify(moved.agent_settings), /secret-\d|\*\*/)
  const elsewhere = change(stored, { llm_base_url: 'https://evil.example' })
  assert.doesNotMatch(JSON.stringify(elsewhere.agent_settings?.llm), /secret-\d|\*\*/)
  assert.match(JSON.stringify(elsewhere.agent_settings?.llm_profiles), /secret-4/)
})

test('what Parley does not do is refused with the reason', () => {
  const refused = (agent_settings: unknown) =>
    SettingsUpdate.safeParse({ agent_settings }).error?.issues.map(({ message }) => message)[0]
  assert.match(refused({ llm: { native_tool_calling: false } }) ?? '', /calls tools natively/)
  assert.match(refused({ llm: { cloud_profile_name: 'prod' } }) ?? '', /names a file of the server/)
  assert.match(refused({ llm: { custom_tokenizer: 'x' } }) ?? '', /not supported/)
  assert.match(refused({ llm: { fallback_strategy: { fallback_llms: ['none'] } } }) ?? '', /no profile is named none/)
  assert.match(refused({ llm: { temprature: 1 } }) ?? '', /Unrecognized key/)
  assert.match(refused({ filter_tools_regex: '(' }) ?? '', /regular expression/)
  assert.equal(refused({ llm: { native_tool_calling: true, cloud_profile_name: null } }), undefined)
})
