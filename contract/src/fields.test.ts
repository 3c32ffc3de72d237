import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { z } from 'zod'
import { canonicalId, IdInput, idList } from './id.ts'
import { pageQuery, QueryBoolean } from './page.ts'
import { pendingTarget } from './pending-messages.ts'
import { secretNameProblem } from './secret-names.ts'
import { TagsInput } from './tags.ts'
import { ExtraHeaders, TitleInput, WebAddress } from './text.ts'
import { Timestamp, TimestampInput } from './time.ts'

const accepts = (schema: z.ZodType, value: unknown) => schema.safeParse(value).success
const id = '0199f3c2-7a10-7c3e-9a51-2f0d6b1c8e44'

test('an id is taken with or without dashes and in any case, and has one form inside', () => {
  for (const text of [id, id.toUpperCase(), id.replaceAll('-', ''), id.replaceAll('-', '').toUpperCase()]) {
    assert.equal(IdInput.parse(text), id)
  }
  const bad = ['', 'not-a-uuid', ' '.repeat(36), `{${id}}`, 'a'.repeat(2000), `${id}\n`, ` ${id}`, id.slice(1), 7, null]
  for (const text of bad) assert.ok(!accepts(IdInput, text), JSON.stringify(text))
  assert.equal(canonicalId('00000000-0000-0000-0000-000000000000'), '00000000-0000-0000-0000-000000000000')
  fc.assert(fc.property(fc.uuid(), (uuid) => canonicalId(uuid.replaceAll('-', '')) === uuid))
})

test('a list of ids has at least one and at most as many as said', () => {
  assert.ok(accepts(idList(100), Array(100).fill(id)))
  assert.ok(!accepts(idList(100), Array(101).fill(id)))
  assert.ok(!accepts(idList(100), []))
  assert.ok(!accepts(idList(100), [id, '']))
})

test('a time is answered in UTC with milliseconds, whatever zone it was sent in', () => {
  assert.equal(TimestampInput.parse('2026-11-21T08:13:05+01:00'), '2026-11-21T07:13:05.000Z')
  assert.equal(TimestampInput.parse('2026-11-21T07:13:05.123456Z'), '2026-11-21T07:13:05.123Z')
  assert.equal(TimestampInput.parse('2026-11-21T07:13:05'), '2026-11-21T07:13:05.000Z')
  for (const text of ['2026-02-30T00:00:00Z', '+010000-01-01T00:00:00Z', '10000-01-01T00:00:00Z', 'yesterday', '', 0]) {
    assert.ok(!accepts(TimestampInput, text), String(text))
  }
  assert.ok(accepts(Timestamp, TimestampInput.parse('2024-02-29T23:59:59Z')))
})

test('a page has between 1 and 100 items', () => {
  const query = z.object(pageQuery(30))
  assert.equal(query.parse({}).limit, 30)
  assert.equal(query.parse({ limit: '100' }).limit, 100)
  for (const limit of ['0', '-1', '101', '1e9', 'abc', '', '1.5', ['1', '2']]) {
    assert.ok(!accepts(query, { limit }), JSON.stringify(limit))
  }
})

test('a query boolean is a word for yes or no in any case', () => {
  for (const text of ['true', '1', 'YES', 'on']) assert.equal(QueryBoolean.parse(text), true)
  for (const text of ['False', '0', 'no', 'OFF']) assert.equal(QueryBoolean.parse(text), false)
  for (const text of ['', 'maybe', '2']) assert.ok(!accepts(QueryBoolean, text))
})

test('a tag has a lower-case key and at most 256 characters', () => {
  assert.ok(accepts(TagsInput, { team: 'x'.repeat(256), a1: '' }))
  for (const tags of [{ 'A-b': 'x' }, { a_b: 'x' }, { '': 'x' }, { team: 'x'.repeat(257) }, { team: 1 }, []]) {
    assert.ok(!accepts(TagsInput, tags), JSON.stringify(tags).slice(0, 40))
  }
  const many = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, n) => [`k${n}`, '']))
  assert.ok(accepts(TagsInput, many(50)))
  assert.ok(!accepts(TagsInput, many(51)))
})

test('a title is one line of 1 to 200 characters that reads as it is written', () => {
  assert.equal(TitleInput.parse('  Parser  '), 'Parser')
  assert.ok(accepts(TitleInput, 'x'.repeat(200)))
  for (const title of ['', '   ', 'x'.repeat(201), 'x'.repeat(100_000), 'a\nb', 'a\u001b[31m', 'abc\u202efdp.exe']) {
    assert.ok(!accepts(TitleInput, title), JSON.stringify(title).slice(0, 40))
  }
})

test('an address is http or https and holds no password', () => {
  for (const url of ['https://api.example/v1', 'http://localhost:11434']) assert.ok(accepts(WebAddress, url), url)
  const bad = [
    '',
    'api.example',
    'ftp://a',
    'file:///etc/passwd',
    'javascript:alert(1)',
    'https://u:p@a',
    'https://u@a',
  ]
  for (const url of [...bad, `https://a/${'x'.repeat(3000)}`]) assert.ok(!accepts(WebAddress, url), url.slice(0, 40))
})

test('an extra header cannot end a line or take over the framing of the request', () => {
  assert.ok(accepts(ExtraHeaders, { 'X-Team': 'parsers' }))
  for (const [name, value] of [
    ['X-Team', 'a\r\nHost: b'],
    ['X Team', 'a'],
    ['', 'a'],
    ['Host', 'a'],
    ['content-length', '1'],
    ['X-Team', 'a\u0000'],
    ['X-Team\r\n', 'a'],
  ] as const) {
    assert.ok(!accepts(ExtraHeaders, { [name]: value }), JSON.stringify([name, value]))
  }
})

test('a secret is named like a variable and does not take the place of one that the sandbox needs', () => {
  for (const name of ['NPM_TOKEN', '_x', 'aws_key', 'A'.repeat(255)]) assert.equal(secretNameProblem(name), undefined)
  const bad = [
    '',
    '1A',
    'A-B',
    'A B',
    'A\n',
    'Ä',
    'A'.repeat(256),
    'path',
    'LD_PRELOAD',
    'LLM_API_KEY',
    'llm_x',
    'WORKER_1',
  ]
  for (const name of bad) assert.ok(secretNameProblem(name) !== undefined, JSON.stringify(name))
})

test('a message can be queued for a conversation or for the task that starts it', () => {
  assert.deepEqual(pendingTarget(id.toUpperCase()), { kind: 'conversation', id })
  assert.deepEqual(pendingTarget(`task-${id.replaceAll('-', '')}`), { kind: 'task', id })
  for (const text of ['', 'task-', 'task', `Task-${id}`, `task-${id}x`])
    assert.equal(pendingTarget(text), undefined, text)
})
