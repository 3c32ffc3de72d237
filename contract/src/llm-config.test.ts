import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { LlmConfig, LlmOptions, LlmProfile } from './llm-config.ts'

const documented = await readFile(new URL('../../docs/models.md', import.meta.url), 'utf8')

test('what each field of a model does is written down', () => {
  for (const field of Object.keys(LlmConfig.shape)) assert.ok(documented.includes(`\`${field}`), field)
})

test('options have no defaults: what is not said is left to the provider', () => {
  assert.deepEqual(LlmOptions.parse({}), {})
  assert.deepEqual(LlmProfile.parse({ model: 'a/b' }), { model: 'a/b' })
})
