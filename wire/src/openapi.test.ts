import assert from 'node:assert/strict'
import { test } from 'node:test'
import { endpoint } from '@parley/contract/endpoint'
import { IdInput, idList } from '@parley/contract/id'
import { z } from 'zod'
import { openapi } from './openapi.ts'

const Box = z.object({ name: z.string().default('x'), at: z.iso.datetime() }).meta({ id: 'Box' })
const Shelf = z.object({ boxes: z.array(Box) }).meta({ id: 'Shelf' })

const endpoints = [
  endpoint({
    method: 'POST',
    path: '/api/v1/shelves/{id}',
    summary: 'Put a shelf.',
    access: 'settings:write',
    params: z.object({ id: IdInput }),
    query: z.object({ ids: idList(3).optional() }),
    body: Shelf,
    returns: Shelf,
    status: 201,
    fails: ['state_conflict'],
    example: { body: { boxes: [] } },
  }),
  endpoint({
    method: 'GET',
    path: '/health',
    summary: 'Health.',
    access: 'open',
    returns: Shelf,
    answer: 'json-array',
  }),
]

const document = () => openapi({ title: 'Test', version: '1', endpoints })

/** The value at a JSON pointer. */
const at = (value: unknown, ...path: string[]): unknown =>
  path.reduce<unknown>((inner, key) => (inner as Record<string, unknown> | undefined)?.[key], value)

test('what is accepted and what is answered are two schemas where they differ', () => {
  const schemas = at(document(), 'components', 'schemas')
  assert.deepEqual(Object.keys(schemas as object), ['Box', 'BoxInput', 'Problem', 'Shelf', 'ShelfInput'])
  assert.deepEqual(at(schemas, 'Box', 'required'), ['name', 'at'])
  assert.deepEqual(at(schemas, 'BoxInput', 'required'), ['at'])
  assert.equal(at(schemas, 'ShelfInput', 'properties', 'boxes', 'items', '$ref'), '#/components/schemas/BoxInput')
})

test('every reference of the document leads to something in it', () => {
  const text = JSON.stringify(document())
  const refs = [...text.matchAll(/"\$ref":"([^"]+)"/g)].map(([, ref]) => ref ?? '')
  assert.ok(refs.length > 5)
  for (const ref of refs) assert.ok(at(JSON.parse(text), ...ref.replace('#/', '').split('/')), ref)
})

test('an operation says its input, its answer, its failures and what key it needs', () => {
  const put = at(document(), 'paths', '/api/v1/shelves/{id}', 'post')
  assert.equal(at(put, 'operationId'), 'post_api_v1_shelves_by_id')
  const names = (at(put, 'parameters') as { name: string }[]).map(({ name }) => name)
  assert.deepEqual(names, ['id', 'ids', 'Idempotency-Key'])
  const statuses = Object.keys(at(put, 'responses') as object)
  assert.deepEqual(statuses, ['201', '400', '401', '403', '404', '409', '413', '415', '422', '429', '500', '503'])
  assert.deepEqual(at(put, 'security'), [{ bearer: [] }, { accessToken: [] }])
  assert.deepEqual(at(put, 'requestBody', 'content', 'application/json', 'example'), { boxes: [] })
  assert.deepEqual(at(document(), 'paths', '/health', 'get', 'security'), [])
})

test('the same endpoints in another order give the same bytes', () => {
  const turned = openapi({ title: 'Test', version: '1', endpoints: endpoints.toReversed() })
  assert.equal(JSON.stringify(turned), JSON.stringify(document()))
})
