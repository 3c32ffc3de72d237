import { isUtf8 } from 'node:buffer'
import { Problem } from '@parley/contract/problems'

/*
 * JSON from strangers. `JSON.parse` decides the grammar; on top of it we refuse what two readers could understand
 * differently (duplicate keys, numbers beyond a double, lone surrogates) or what a database cannot keep (NUL).
 */

const deepest = 64

const refuse = (detail: string): never => {
  throw new Problem('malformed_request', detail)
}

/** The value of a JSON text in UTF-8 without BOM, or Problem `malformed_request`. */
export function readJson(bytes: Buffer): unknown {
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) refuse('The body starts with a byte order mark.')
  if (!isUtf8(bytes)) refuse('The body is not UTF-8.')
  const text = bytes.toString('utf8')
  const value = parse(text)
  const members = examine(value, 1)
  if (members !== countMembers(text)) refuse('The body has an object with two members of the same name.')
  return value
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // The parser's message quotes the text, which may hold a secret.
    return refuse('The body is not JSON.')
  }
}

/** Number of members of all objects in the value. */
function examine(value: unknown, depth: number): number {
  if (typeof value === 'string') return examineText(value)
  if (typeof value === 'number') return Number.isFinite(value) ? 0 : refuse('The body has a number out of range.')
  if (typeof value !== 'object' || value === null) return 0
  if (depth > deepest) refuse(`The body is nested deeper than ${deepest}.`)
  let members = 0
  if (Array.isArray(value)) {
    for (const element of value) members += examine(element, depth + 1)
    return members
  }
  for (const [name, member] of Object.entries(value)) {
    examineText(name)
    if (name === '__proto__' || (name === 'constructor' && hasPrototype(member)))
      refuse('The body has a forbidden member.')
    members += 1 + examine(member, depth + 1)
  }
  return members
}

const hasPrototype = (value: unknown) =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, 'prototype')

function examineText(text: string): number {
  if (!isText(text)) refuse('The body has a text with a NUL or half a surrogate pair.')
  return 0
}

/** True when the text can be stored and sent on as UTF-8: no NUL, no lone surrogate. */
export const isText = (text: string) => text.isWellFormed() && !text.includes('\0')

/** Counts the colons outside strings: one for each member, also for those that a later one of the same name replaced. */
function countMembers(text: string): number {
  let members = 0
  let at = 0
  while (at < text.length) {
    const open = text.indexOf('"', at)
    const end = open < 0 ? text.length : open
    for (let i = at; i < end; i++) if (text.charCodeAt(i) === 58) members++
    at = open < 0 ? end : closingQuote(text, open) + 1
  }
  return members
}

function closingQuote(text: string, open: number): number {
  let at = open
  let backslashes = 1
  while (backslashes % 2 === 1) {
    at = text.indexOf('"', at + 1)
    backslashes = 0
    while (text.charCodeAt(at - 1 - backslashes) === 92) backslashes++
  }
  return at
}

/** The same text for the same value, whatever the order of members: what a fingerprint is taken of. */
export function canonicalJson(value: unknown): string {
  return (
    JSON.stringify(value, (_, member: unknown) => {
      if (typeof member !== 'object' || member === null || Array.isArray(member)) return member
      return Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1)))
    }) ?? ''
  )
}
