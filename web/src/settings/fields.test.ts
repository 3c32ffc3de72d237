import assert from 'node:assert/strict'
import { test } from 'node:test'
import { StoredSettings } from '@parley/contract/settings'
import { elsewhere, forms } from './fields.ts'

test('every field of the settings has one place in the page', () => {
  const shown = Object.values(forms).flatMap((groups) => groups.flatMap(({ fields }): string[] => [...fields]))
  assert.deepEqual([...shown, ...Object.keys(elsewhere)].toSorted(), Object.keys(StoredSettings.shape).toSorted())
})
