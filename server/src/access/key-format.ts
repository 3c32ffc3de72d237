import { randomInt } from 'node:crypto'
import { crc32 } from 'node:zlib'

/*
 * A key is a prefix, `_`, 30 random base62 characters (178 bits) and 6 base62 characters that are the CRC-32 of those 30.
 * The checksum lets a typo, or a text that merely looks like a key, be told from a real key without a read of the database,
 * and lets a secret scanner find leaked keys offline. The underscore makes a double click select the whole key.
 */

/** `prl`: an API key of a person. `prs`: the session key of one sandbox. */
export type KeyPrefix = 'prl' | 'prs'

const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const shape = /^(prl|prs)_([0-9A-Za-z]{30})([0-9A-Za-z]{6})$/

/** A new key of 40 characters. Shown once to whoever asked for it; only a hash of it may be stored. */
export function makeKey(prefix: KeyPrefix): string {
  const body = Array.from({ length: 30 }, () => digits[randomInt(digits.length)]).join('')
  return `${prefix}_${body}${checksum(body)}`
}

/** Whether the text is a key of this prefix with a checksum that fits. Says nothing about whether such a key was issued. */
export function isKey(text: string, prefix: KeyPrefix): boolean {
  const parts = shape.exec(text)
  return parts !== null && parts[1] === prefix && checksum(parts[2] ?? '') === parts[3]
}

/** CRC-32 as six base62 digits, most significant first; 62^6 is more than 2^32, so it always fits. */
function checksum(body: string): string {
  let rest = crc32(body)
  let text = ''
  for (let place = 0; place < 6; place++) {
    text = digits.charAt(rest % digits.length) + text
    rest = Math.floor(rest / digits.length)
  }
  return text
}
