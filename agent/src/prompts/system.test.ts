import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { promptVersion, systemText } from './system.ts'

/** What each version of the stable text was. A changed text needs a new line here and a higher version. */
const texts: Readonly<Record<number, string>> = { 1: '2a05c2bfec6764c9', 2: 'b73703241a64f7e0' }

test('a change of the stable text raises its version', () => {
  const sum = createHash('sha256').update(systemText).digest('hex').slice(0, 16)
  assert.equal(texts[promptVersion], sum)
})
