import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { isKey, makeKey } from './key-format.ts'

test('a new key has its prefix, 30 random characters and a checksum that fits', () => {
  const key = makeKey('prl')
  assert.match(key, /^prl_[0-9A-Za-z]{36}$/)
  assert.ok(isKey(key, 'prl'))
  assert.notEqual(makeKey('prl'), key)
})

test('the checksum is the base62 CRC-32 of the 30 characters, so a scanner can check it offline', () => {
  assert.ok(isKey(`prl_${'0'.repeat(30)}${base62OfCrc('0'.repeat(30))}`, 'prl'))
})

test('a key of a sandbox is no key of a person', () => {
  assert.ok(isKey(makeKey('prs'), 'prs'))
  assert.ok(!isKey(makeKey('prs'), 'prl'))
})

test('any single wrong character makes a key invalid', () => {
  const other = fc.constantFrom(...'0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz')
  fc.assert(
    fc.property(fc.integer({ min: 4, max: 39 }), other, (at, letter) => {
      const key = makeKey('prl')
      fc.pre(key[at] !== letter)
      assert.ok(!isKey(key.slice(0, at) + letter + key.slice(at + 1), 'prl'))
    }),
  )
})

test('text that is too short, too long or has other letters is no key', () => {
  const key = makeKey('prl')
  for (const text of [
    '',
    'prl_',
    key.slice(1),
    key.slice(0, -1),
    `${key}0`,
    ` ${key}`,
    `${key}\n`,
    key.replace('_', '-'),
  ])
    assert.ok(!isKey(text, 'prl'), JSON.stringify(text))
})

/** The checksum once more, bit by bit, so that the test does not lean on the code it checks. */
function base62OfCrc(text: string): string {
  let crc = 0xffffffff
  for (const byte of Buffer.from(text)) {
    crc ^= byte
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1
  }
  let rest = BigInt((crc ^ 0xffffffff) >>> 0)
  const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
  let out = ''
  for (let i = 0; i < 6; i++, rest /= 62n) out = digits.charAt(Number(rest % 62n)) + out
  return out
}
