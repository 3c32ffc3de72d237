import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readable } from './terminal-text.ts'

test('what a terminal obeys is left out, and what it shows stays', () => {
  assert.equal(readable('\x1b[1;31mred\x1b[0m and \x1b[38:2::1:2:3mmore\x1b[m'), 'red and more')
  assert.equal(readable('\x1b]0;title\x07a\x1b]8;;https://x.test\x1b\\link\x1b]8;;\x1b\\b'), 'alinkb')
  assert.equal(readable('\x1bPq#0;2;0\x1b\\a\x1b(Bb\x1b7c\x1b=d\x9b2Je'), 'abcde')
  assert.equal(readable('[1m is no escape, nor ]0;'), '[1m is no escape, nor ]0;')
})

test('a string for the terminal that has no end hides nothing', () => {
  assert.equal(readable('before \x1b]0;after'), 'before 0;after')
})

test('of a line that was drawn over only what stood there last is kept', () => {
  assert.equal(readable('10%\r50%\r100%\nnext\r\n\rlast'), '100%\nnext\nlast')
})

test('the time grows with the length and no faster, whatever is printed', () => {
  const length = 400_000
  const printed = [
    'x',
    '\x1b',
    '\x1b[',
    '\x1b]a',
    '\x1bP',
    '\x1b[1;',
    '\x1b]a;',
    '\r',
    '\x9b1',
    '\x1b#',
    '\x1b]a\r',
  ].map((part) => part.repeat(length / part.length))
  for (const text of [...printed, `\x1b]${'a'.repeat(length)}`, `\x1b[${'1;'.repeat(length / 2)}`]) {
    const began = performance.now()
    readable(text)
    // Some milliseconds; with time that grows with the square it is half a minute.
    assert.ok(
      performance.now() - began < 2_000,
      `${performance.now() - began} ms for ${JSON.stringify(text.slice(0, 5))}`,
    )
  }
})
