import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { test } from 'node:test'
import spectral, { type RulesetDefinition } from '@stoplight/spectral-core'
import rulesets from '@stoplight/spectral-rulesets'

const file = resolve(import.meta.dirname, '../../docs/openapi/v1.json')

test('the published document has no error that a linter of OpenAPI documents finds', async () => {
  const linter = new spectral.Spectral()
  // The two packages say the same in types that differ by optional members.
  linter.setRuleset({ extends: [rulesets.oas as RulesetDefinition] })
  const found = await linter.run(readFileSync(file, 'utf8'))
  const errors = found.filter(({ severity }) => severity === 0)
  assert.deepEqual(
    errors.map(({ message, path }) => `${path.join('.')}: ${message}`),
    [],
  )
})
