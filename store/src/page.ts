import { createHmac, createSecretKey, hkdfSync, type KeyObject, timingSafeEqual } from 'node:crypto'
import { Problem } from '@parley/contract/problems'

/** Where a page ended: the values of the sort columns in its last row. */
export type Position = (string | number | null)[]

export interface Cursor {
  /** An opaque page id that only `read` with the same `query` accepts. `query` names owner, route and filters. */
  write(place: { query: string; at: Position }): string
  /** Throws `malformed_page_id` when we did not write this text for this query. */
  read(text: string, query: string): Position
}

const macBytes = 16

/** Page ids signed with a key made from the newest key-encryption key; those of the other keys are still read. */
export function openCursor(keks: readonly Uint8Array[]): Cursor {
  const keys = keks.map((kek) => createSecretKey(Buffer.from(hkdfSync('sha256', kek, '', 'parley page id', 32))))
  const [newest] = keys
  if (!newest) throw new Error('A page id needs a key.')
  return {
    write({ query, at }) {
      const body = Buffer.from(JSON.stringify(at))
      return Buffer.concat([sign(newest, query, body), body]).toString('base64url')
    },
    read(text, query) {
      const bytes = Buffer.from(text, 'base64url')
      const [mac, body] = [bytes.subarray(0, macBytes), bytes.subarray(macBytes)]
      // Comparing the text too refuses other spellings of the same bytes.
      const whole = mac.length === macBytes && bytes.toString('base64url') === text
      if (!whole || !keys.some((key) => timingSafeEqual(sign(key, query, body), mac)))
        throw new Problem('malformed_page_id')
      return JSON.parse(body.toString()) as Position // signed by us, so it is what `write` was given
    },
  }
}

function sign(key: KeyObject, query: string, body: Buffer): Buffer {
  const length = Buffer.alloc(4)
  length.writeUInt32BE(Buffer.byteLength(query))
  return createHmac('sha256', key).update(length).update(query).update(body).digest().subarray(0, macBytes)
}
