import assert from 'node:assert/strict'
import { test } from 'node:test'
import { childrenOf } from './children.ts'
import { places } from './places.ts'

test('a place is had once and can be left once', () => {
  const two = places(2)
  const [first, second] = [two.take(), two.take()]
  assert.ok(first !== undefined && second !== undefined)
  assert.equal(two.take(), undefined)
  first()
  first()
  assert.ok(two.take() !== undefined)
  assert.equal(two.take(), undefined)
})

test('where too many wait for sub-agents no further one is begun, so that those under way come to their end', async () => {
  const parts = { helpers: places(0), children: { child: async () => undefined } }
  const parent = { row: { id: '0199f3c2-7a10-7c3e-9a51-2f0d6b1c8e44' } }
  const children = childrenOf(parts as never, parent as never)
  const task = { key: 'a/0', title: '', prompt: '', agent: 'general', budget: null, continues: null }
  await assert.rejects(
    children.work(task, new AbortController().signal, () => {}),
    /too many sub-agents/,
  )
})
