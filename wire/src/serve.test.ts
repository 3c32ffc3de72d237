import assert from 'node:assert/strict'
import { test } from 'node:test'
import { endpoint } from '@parley/contract/endpoint'
import { idList, IdInput } from '@parley/contract/id'
import { Problem } from '@parley/contract/problems'
import { z } from 'zod'
import { serve } from './serve.ts'
import { openWire, problem } from './testing.ts'

const Note = z.object({ id: z.string(), title: z.string(), size: z.number() })
const NewNote = z.object({
  title: z.string().min(1).max(10),
  size: z.int().default(0),
  tag: z.enum(['a', 'b']).optional(),
})

const getNote = endpoint({
  method: 'GET',
  path: '/api/v1/notes/{id}',
  summary: 'One note',
  access: 'events:read',
  params: z.object({ id: IdInput }),
  returns: Note,
  etag: true,
})
const listNotes = endpoint({
  method: 'GET',
  path: '/api/v1/notes',
  summary: 'Notes',
  access: 'events:read',
  query: z.object({ ids: idList(3).optional(), limit: z.coerce.number().int().min(1).max(100).default(20) }),
  returns: z.object({ ids: z.array(z.string()), limit: z.number() }),
})
const addNote = endpoint({
  method: 'POST',
  path: '/api/v1/notes',
  summary: 'Add',
  access: 'events:write',
  body: NewNote,
  returns: Note,
  status: 201,
})

const id = '0192f0c1-2345-7abc-8def-0123456789ab'

export const notes = [
  serve(getNote, ({ params }) => {
    if (params.id !== id) throw new Problem('not_found')
    return { id: params.id, title: 'first', size: 1, secret: 'not promised' }
  }),
  serve(listNotes, ({ query }) => ({ ids: query.ids ?? [], limit: query.limit })),
  serve(addNote, ({ body }) => ({ id, ...body })),
]

test('a typed call comes back with what the endpoint promises and nothing else', async () => {
  await using wire = await openWire(notes)
  const ada = wire.as('key-ada')
  assert.deepEqual(await ada(getNote, { params: { id: id.toUpperCase().replaceAll('-', '') } }), {
    id,
    title: 'first',
    size: 1,
  })
  assert.deepEqual(await ada(addNote, { body: { title: 'hello' } }), { id, title: 'hello', size: 0 })
  await assert.rejects(ada(getNote, { params: { id: id.replace('01', '02') } }), { code: 'not_found' })
})

test('ids may repeat, be separated by commas, and be called id', async () => {
  await using wire = await openWire(notes)
  const other = id.replace('01', '02')
  for (const query of [
    `ids=${id}&ids=${other}`,
    `ids=${id},${other}`,
    `id=${id}&id=${other}`,
    `ids=${id}&id=${other}`,
  ]) {
    const answer = await wire.get(`/api/v1/notes?${query}`)
    assert.deepEqual(await answer.json(), { ids: [id, other], limit: 20 }, query)
  }
})

test('an answer that is not what the endpoint promises is our bug', async () => {
  const broken = serve(getNote, () => ({ id, title: 'x', size: 'no number' }) as never)
  await using wire = await openWire([broken])
  const answer = await wire.get(`/api/v1/notes/${id}`)
  assert.deepEqual([answer.status, (await problem(answer)).code], [500, 'internal_error'])
  assert.equal(wire.log.lines.filter(({ level }) => level === 'error').length, 1)
})
