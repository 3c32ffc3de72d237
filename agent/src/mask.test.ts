import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { masker } from './mask.ts'

const token = 'ghp_Zq8+/x"é9 w7\\tail'

const encodings: Record<string, (value: string) => string> = {
  itself: (value) => value,
  'base64 with padding': (value) => Buffer.from(value).toString('base64'),
  'base64 for URLs': (value) => Buffer.from(value).toString('base64url'),
  'lower case hex': (value) => Buffer.from(value).toString('hex'),
  'upper case hex': (value) => Buffer.from(value).toString('hex').toUpperCase(),
  'a URL component': encodeURIComponent,
  'a form field': (value) => new URLSearchParams({ v: value }).toString().slice(2),
  'a JSON string': (value) => JSON.stringify(value).slice(1, -1),
}

for (const [name, encode] of Object.entries(encodings)) {
  test(`a secret is hidden when it shows up as ${name}`, () => {
    const { text } = masker([{ name: 'TOKEN', value: token }])
    assert.equal(text(`before ${encode(token)} after`), 'before <secret:TOKEN> after')
  })
}

test('a secret inside a longer base64 text is hidden at each of the three alignments', () => {
  const { text } = masker([{ name: 'TOKEN', value: token }])
  for (const lead of ['', 'x', 'xy']) {
    const masked = text(Buffer.from(`${lead}${token}:and more`).toString('base64'))
    assert.match(masked, /<secret:TOKEN>/)
    const left = Buffer.from(masked.replace('<secret:TOKEN>', ''), 'base64').toString('latin1')
    assert.ok(!left.includes('ghp_'), left)
  }
})

test('a secret is hidden when a program has broken it over lines', () => {
  const { text } = masker([{ name: 'KEY', value: 'k'.repeat(20) + 'v'.repeat(40) }])
  const wrapped = `${Buffer.from(`user:${'k'.repeat(20)}${'v'.repeat(40)}`)
    .toString('base64')
    .match(/.{1,19}/g)
    ?.join('\r\n')}`
  assert.ok(!text(wrapped).includes('2dnZ2'), text(wrapped))
  assert.equal(text(`${'k'.repeat(20)}\n${'v'.repeat(40)}!`), '<secret:KEY>!')
})

test('a value under six characters hides nothing', () => {
  assert.equal(masker([{ name: 'PIN', value: '12345' }]).text('12345'), '12345')
})

test('a masked event keeps its shape, and one without secrets is the same object', () => {
  const mask = masker([{ name: 'TOKEN', value: token }])
  const event = { kind: 'X', list: [1, null, { [`k-${token}`]: `a ${token} b` }] }
  assert.deepEqual(mask.value(event), { kind: 'X', list: [1, null, { 'k-<secret:TOKEN>': 'a <secret:TOKEN> b' }] })
  const clean = { a: ['b', { c: 1 }] }
  assert.equal(mask.value(clean), clean)
})

test('a secret that becomes known later is hidden from then on, also in an open stream', () => {
  const mask = masker([])
  const stream = mask.stream()
  assert.equal(stream.push(`one ${token}`), `one ${token}`)
  mask.add('LATE', token)
  assert.equal(stream.push(` two ${token}!`) + stream.end(), ' two <secret:LATE>!')
  assert.equal(mask.text(token), '<secret:LATE>')
})

test('a stream holds back no more than what could be the start of a secret', () => {
  const stream = masker([{ name: 'A', value: 'abcdef' }]).stream()
  assert.equal(stream.push('hello abc'), 'hello ')
  assert.equal(stream.push('xyz'), 'abcxyz')
  assert.equal(stream.push('abcde'), '')
  assert.equal(stream.end(), 'abcde')
})

test('a secret before one that is still open is not let through', () => {
  const values = ['cbccaaaa', 'ccbccaaaaa', 'aaaaac']
  const stream = masker(values.map((value, i) => ({ name: `S${i}`, value }))).stream()
  let out = ''
  for (const char of 'aaaaaccbccaaaa') out += stream.push(char)
  assert.equal(out + stream.end(), '<secret:S2><secret:S0>')
})

test('an endless chain of overlapping secrets is held back no further than a few of their lengths', () => {
  const stream = masker([{ name: 'A', value: 'a'.repeat(8) }]).stream()
  let out = ''
  for (let i = 0; i < 100; i++) out += stream.push('aaa')
  const tail = stream.end()
  assert.ok(out.length > 0 && !out.includes('aaa'))
  assert.ok(tail.length <= 4 * 11 + 10, tail)
})

const small = fc.string({ unit: fc.constantFrom('a', 'b', 'c', '\n'), minLength: 6, maxLength: 12 })
const secretsAndText = fc.record({
  values: fc.array(small, { minLength: 1, maxLength: 4 }),
  pieces: fc.array(
    fc.oneof(fc.constantFrom(0, 1, 2, 3), fc.string({ unit: fc.constantFrom('a', 'b', 'c', ' ', '\n'), maxLength: 8 })),
    {
      maxLength: 12,
    },
  ),
})
const flat = (text: string) => text.replace(/[\r\n]/g, '')

test('no text leaves with the value of a secret in it, whatever stands around it', () => {
  fc.assert(
    fc.property(secretsAndText, ({ values, pieces }) => {
      const kept = values.filter((value) => flat(value).length >= 6)
      const text = pieces.map((piece) => (typeof piece === 'number' ? (values[piece] ?? '') : piece)).join('')
      const masked = masker(values.map((value, i) => ({ name: `S${i}`, value }))).text(text)
      for (const value of kept) for (const left of masked.split(/<secret:S\d>/)) assert.ok(!left.includes(value))
      if (kept.length === 0) assert.equal(masked, text)
    }),
    { numRuns: 2000 },
  )
})

test('a text that comes in pieces is masked as if it had come whole', () => {
  fc.assert(
    fc.property(secretsAndText, fc.array(fc.nat(9), { minLength: 1, maxLength: 30 }), ({ values, pieces }, cuts) => {
      const text = pieces.map((piece) => (typeof piece === 'number' ? (values[piece] ?? '') : piece)).join('')
      const mask = masker(values.map((value, i) => ({ name: `S${i}`, value })))
      const stream = mask.stream()
      let out = ''
      let at = 0
      for (let i = 0; at < text.length; i++) {
        const size = (cuts[i % cuts.length] ?? 0) + 1
        out += stream.push(text.slice(at, at + size))
        at += size
      }
      const whole = mask.text(text)
      const streamed = out + stream.end()
      for (const value of values) {
        if (flat(value).length < 6) continue
        for (const left of streamed.split(/<secret:S\d>/)) assert.ok(!left.includes(value))
      }
      if (text.length < 24) assert.equal(streamed, whole)
    }),
    { numRuns: 2000 },
  )
})
