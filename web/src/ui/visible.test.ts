/* oxlint-disable no-control-regex -- these are what is looked for */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { terminalText, visible } from './visible.ts'

test('characters that cannot be seen or turn the reading order around are written out', () => {
  assert.equal(visible('user\u202Etxt.exe'), 'user‹U+202E›txt.exe')
  assert.equal(visible('a\u200bb\u0000c'), 'a‹U+200B›b‹U+0000›c')
  assert.equal(visible(String.fromCodePoint(0xe0041)), '‹U+E0041›')
})

test('letters of all languages and joined emoji stay as they are', () => {
  for (const text of ['Grüße, 世界, مرحبا', '👩‍💻', '👩🏽‍🚀', 'a\tb\nc']) assert.equal(visible(text), text)
})

test('of what a terminal understands only colours are left', () => {
  assert.equal(terminalText('\u001b[31mred\u001b[0m'), '\u001b[31mred\u001b[0m')
  assert.equal(terminalText('a\u001b]52;c;aGl0\u0007b\u001b]8;;http://x\u001b\\c'), 'abc')
  assert.equal(terminalText('\u001b[2J\u001b[Hx\u001b(B\u001bM'), 'x')
})

test('a sequence that is put together by taking another away is none', () => {
  assert.equal(terminalText('\u001b\u009b[[2Jx'), '[2Jx')
})

test('a line that was written over shows what it said last', () => {
  assert.equal(terminalText('10 %\r50 %\r100 %\r\ndone\r\n'), '100 %\ndone\n')
})

test('whatever comes, no other control sequence is left', () => {
  const pieces = fc.constantFrom('\u001b', '[', ']', 'm', '31', ';', '\u0007', '\u009b', 'x', '\u009d', '\r', '\u202e')
  fc.assert(
    fc.property(fc.array(pieces, { maxLength: 40 }), (parts) => {
      const left = terminalText(parts.join('')).replaceAll(/\u001b\[[\d;:]*m/g, '')
      assert.doesNotMatch(left, /[\u0007\u0080-\u009f\u202e]|\u001b/)
    }),
  )
})
