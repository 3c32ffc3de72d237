import assert from 'node:assert/strict'
import { test } from 'node:test'
import { completed, tokenAt } from './suggest.ts'

const at = (marked: string) => {
  const caret = marked.indexOf('|')
  const text = marked.replace('|', '')
  const token = tokenAt(text, caret)
  return token === null ? null : [token.sign, token.words, text.slice(token.from, token.to)]
}

test('a command is written at the start of the text, a file anywhere before the caret', () => {
  assert.deepEqual(at('/pl|'), ['/', 'pl', '/pl'])
  assert.deepEqual(at('see @src/a|'), ['@', 'src/a', '@src/a'])
  assert.deepEqual(at('@|'), ['@', '', '@'])
  for (const text of ['and /pl|', 'me@host|', '/usr/bin|', '@a b|', 'text|']) assert.equal(at(text), null)
})

test('what is chosen takes the place of what was written, and the caret stands after it', () => {
  const token = tokenAt('see @src and more', 8)
  assert.ok(token)
  assert.deepEqual(completed('see @src and more', token, '@src/main.ts'), {
    text: 'see @src/main.ts and more',
    caret: 17,
  })
  assert.deepEqual(completed('/pl', { sign: '/', words: 'pl', from: 0, to: 3 }, ''), { text: '', caret: 0 })
})
