import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { openCursor } from './page.ts'

const kek = randomBytes(32)

test('a page id gives back the place it was written for, for the same query only', () => {
  const cursor = openCursor([kek])
  fc.assert(
    fc.property(
      fc.array(fc.oneof(fc.string(), fc.integer(), fc.constant(null))),
      fc.string(),
      fc.string(),
      (at, query, other) => {
        const text = cursor.write({ query, at })
        assert.match(text, /^[\w-]+$/)
        assert.deepEqual(cursor.read(text, query), at)
        if (other !== query) assert.throws(() => cursor.read(text, other), { code: 'malformed_page_id' })
      },
    ),
  )
})

test('a page id that was changed in any character, cut or made up is refused', () => {
  const cursor = openCursor([kek])
  const text = cursor.write({ query: 'q', at: ['2026-11-21T07:13:05.120Z', 7] })
  const swap = (one: string | undefined) => (one === 'A' ? 'B' : 'A')
  const changed = Array.from(text, (_, i) => text.slice(0, i) + swap(text[i]) + text.slice(i + 1)).filter(
    (one) => one !== text,
  )
  for (const bad of [...changed, text.slice(0, -1), `${text}=`, `${text}A`, '', 'x', ' ']) {
    assert.throws(() => cursor.read(bad, 'q'), { code: 'malformed_page_id' }, bad)
  }
})

test('page ids outlive a change of the secret key while the old one is loaded', () => {
  const text = openCursor([kek]).write({ query: 'q', at: [1] })
  const newer = randomBytes(32)
  assert.deepEqual(openCursor([newer, kek]).read(text, 'q'), [1])
  assert.throws(() => openCursor([newer]).read(text, 'q'), { code: 'malformed_page_id' })
})
