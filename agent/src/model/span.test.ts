import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { arraySpan } from './span.ts'

test('the list of a body is found with each of its elements, whatever stands in it and around it', () => {
  fc.assert(
    fc.property(fc.array(fc.jsonValue()), fc.dictionary(fc.string(), fc.jsonValue()), (list, around) => {
      const { messages: _, ...rest } = around
      const json = JSON.stringify({ ...rest, messages: list, after: '"messages":[1]' })
      const span = arraySpan(json, 'messages')
      assert.ok(span)
      const texts = span.ends.map((end, i) => json.slice(i === 0 ? span.open : (span.ends[i - 1] ?? 0) + 1, end))
      assert.deepEqual(
        texts,
        list.map((item) => JSON.stringify(item)),
      )
      assert.equal(json[span.close], ']')
    }),
    { numRuns: 500 },
  )
})

test('a body without that list has none', () => {
  assert.equal(arraySpan('{"a":{"messages":[]},"b":"messages"}', 'messages'), null)
  assert.equal(arraySpan('{"messages":"text"}', 'messages'), null)
  assert.equal(arraySpan('{}', 'messages'), null)
})
