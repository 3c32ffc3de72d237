import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { test } from 'node:test'
import { z } from 'zod'
import { api } from './api.ts'
import type { AnyEndpoint } from './endpoint.ts'
import { problems } from './problems.ts'

const calls = Object.entries(api).flatMap(([noun, verbs]) =>
  Object.entries(verbs as Record<string, AnyEndpoint>).map(([verb, call]) => ({ name: `${noun}.${verb}`, call })),
)
const keysOf = (schema: z.ZodType): string[] => (schema instanceof z.ZodObject ? Object.keys(schema.shape) : [])

test('every call has a summary, a description of its own and a path under which no other call answers', () => {
  const seen = new Map<string, string>()
  for (const { name, call } of calls) {
    assert.match(call.summary, /^[A-Z].{3,78}[^.]$/, name)
    assert.ok(call.description !== call.summary && call.description.endsWith('.'), name)
    const place = `${call.method} ${call.path.replaceAll(/\{\w+\}/g, '{}')}`
    assert.equal(seen.get(place), undefined, `${name}: ${place}`)
    seen.set(place, name)
  }
})

test('every placeholder of a path has a schema, and every schema a placeholder', () => {
  for (const { name, call } of calls) {
    const placeholders = [...call.path.matchAll(/\{(\w+)\}/g)].map((match) => match[1])
    assert.deepEqual(placeholders.toSorted(), keysOf(call.params).toSorted(), name)
  }
})

test('every call has an example that its own schemas accept', () => {
  for (const { name, call } of calls) {
    if (call.accepts === 'json') {
      const body = call.body.safeParse(call.example.body)
      assert.ok(body.success, `${name} body: ${body.error?.message}`)
    }
    if (call.answer === 'bytes' || call.answer === 'html') continue
    const answer = call.returns.safeParse(call.example.returns)
    assert.ok(answer.success, `${name} returns: ${answer.error?.message}`)
    assert.deepEqual(answer.data, call.example.returns, `${name}: the example leaves nothing out and adds nothing`)
  }
})

test('a call lists each of its own failures once, and each of them is in the table of problems', () => {
  for (const { name, call } of calls) {
    assert.equal(new Set(call.fails).size, call.fails.length, name)
    for (const code of call.fails) assert.ok(Object.hasOwn(problems, code), `${name}: ${code}`)
    const nullIsAnAnswer = call.returns.safeParse(null).success
    if (keysOf(call.params).includes('id') && !nullIsAnAnswer) assert.ok(call.fails.includes('not_found'), name)
  }
})

test('a call that only reads has no body, and one that changes nothing for strangers needs a key', () => {
  for (const { name, call } of calls) {
    if (call.method === 'GET') assert.equal(call.accepts, 'none', name)
    if (call.method !== 'GET' && call.access === 'open') assert.match(call.path, /\/users\//, name)
  }
})

test('every schema can be written into the reference, and every named record has one name', () => {
  const named = new Map<string, z.ZodType>()
  for (const { name, call } of calls) {
    for (const [schema, io] of [
      [call.params, 'input'],
      [call.query, 'input'],
      [call.body, 'input'],
      [call.returns, 'output'],
    ] as const) {
      if (schema instanceof z.ZodUndefined) continue
      assert.doesNotThrow(() => z.toJSONSchema(schema, { io }), `${name} ${io}`)
    }
    const id = z.globalRegistry.get(call.returns)?.id
    if (id === undefined) continue
    assert.equal(named.get(id) ?? call.returns, call.returns, `${name}: another record is named ${id}`)
    named.set(id, call.returns)
  }
})

test('every call that a file of the contract makes is in the table', async () => {
  const listed = new Set<unknown>(calls.map(({ call }) => call))
  for (const file of readdirSync(import.meta.dirname).filter((name) => /^[a-z0-9-]+\.ts$/.test(name))) {
    const exports: Record<string, unknown> = await import(`./${file}`)
    for (const [name, value] of Object.entries(exports)) {
      const isCall = typeof value === 'object' && value !== null && 'method' in value && 'path' in value
      if (isCall) assert.ok(listed.has(value), `${file}: ${name}`)
    }
  }
})

test('the calls of the specification are there under their own paths', () => {
  const places = new Set(calls.map(({ call }) => `${call.method} ${call.path}`))
  const promised = [
    'POST /api/v1/app-conversations',
    'POST /api/v1/app-conversations/stream-start',
    'GET /api/v1/app-conversations',
    'GET /api/v1/app-conversations/search',
    'GET /api/v1/app-conversations/{id}',
    'DELETE /api/v1/app-conversations/{id}',
    'GET /api/v1/app-conversations/start-tasks',
    'GET /api/v1/app-conversations/start-tasks/search',
    'GET /api/v1/sandboxes/search',
    'POST /api/v1/sandboxes/{id}/pause',
    'POST /api/v1/sandboxes/{id}/resume',
    'GET /api/v1/sandbox-specs/search',
    'GET /api/v1/conversation/{id}/events/search',
    'POST /api/v1/conversation/{id}/events',
    'GET /api/v1/config/models/search',
    'GET /api/v1/settings',
    'POST /api/v1/settings',
    'GET /api/v1/git/installations/search',
    'GET /api/v1/git/repositories/search',
    'GET /api/v1/git/branches/search',
    'GET /api/v1/secrets',
    'POST /api/v1/secrets',
    'DELETE /api/v1/secrets/{id}',
    'POST /api/v1/webhooks/conversations',
    'POST /api/conversations',
  ]
  assert.deepEqual(
    promised.filter((place) => !places.has(place)),
    [],
  )
})
