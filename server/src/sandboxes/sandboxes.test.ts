import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { api } from '@parley/contract/api'
import type { Sandbox } from '@parley/contract/sandboxes'
import type { Caller } from '@parley/wire/call'
import { until } from '../../../tests/tools/house.ts'
import { choose } from '../conversations/start/group.ts'
import { openTestServer } from '../testing.ts'
import { makeRoom } from './place.ts'

const dir = await mkdtemp(join(tmpdir(), 'pl-'))
const limits = join(dir, 'limits.yaml')
writeFileSync(
  limits,
  'sandboxes: { per_user: 2, idle_pause: 2s }\nrates: { control: { requests: 1000 }, read: { requests: 100000 } }\n',
)
const server = await openTestServer({ env: { PARLEY_LIMITS: limits } })
after(async () => {
  await server[Symbol.asyncDispose]()
  await rm(dir, { recursive: true })
})

async function settled(person: Caller, id: string, status: Sandbox['status']): Promise<Sandbox> {
  for (let tries = 0; tries < 400; tries += 1) {
    const sandbox = await person(api.sandboxes.get, { params: { id } })
    if (sandbox.status === status) return sandbox
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  return assert.fail(`the sandbox never became ${status}`)
}

const running = async (person: Caller): Promise<Sandbox[]> =>
  (await person(api.sandboxes.search, { query: {} })).items.filter(
    ({ status }) => status === 'RUNNING' || status === 'STARTING',
  )

test('at the limit one more pauses the oldest that is at rest, and says why', async () => {
  const ada = await server.as('ada')
  const first = await ada(api.sandboxes.create)
  await settled(ada, first.id, 'RUNNING')
  const second = await ada(api.sandboxes.create)
  await settled(ada, second.id, 'RUNNING')
  const third = await ada(api.sandboxes.create)
  await settled(ada, third.id, 'RUNNING')
  const paused = await settled(ada, first.id, 'PAUSED')
  assert.match(paused.status_detail ?? '', /room/)
})

test('starts at the same moment do not exceed the limit together', async () => {
  const bea = await server.as('bea')
  const made = await Promise.allSettled(Array.from({ length: 6 }, () => bea(api.sandboxes.create)))
  assert.ok((await running(bea)).length <= 2)
  for (const one of made) if (one.status === 'rejected') assert.equal((one.reason as { code: string }).code, 'capacity')
})

test('only a paused sandbox can be resumed, and a deleted one is not there', async () => {
  const cyd = await server.as('cyd')
  const { id } = await cyd(api.sandboxes.create)
  await settled(cyd, id, 'RUNNING')
  await assert.rejects(cyd(api.sandboxes.resume, { params: { id } }), {
    code: 'state_conflict',
    message: 'The sandbox is RUNNING; only a PAUSED sandbox can be resumed.',
  })
  assert.equal((await cyd(api.sandboxes.pause, { params: { id } })).status, 'PAUSED')
  assert.equal((await cyd(api.sandboxes.pause, { params: { id } })).status, 'PAUSED')
  await cyd(api.sandboxes.resume, { params: { id } })
  await settled(cyd, id, 'RUNNING')
  const sandbox_id = crypto.randomUUID()
  await assert.rejects(cyd(api.sandboxes.delete, { params: { id }, query: { sandbox_id } }), { status: 422 })
  await cyd(api.sandboxes.delete, { params: { id }, query: { sandbox_id: id } })
  await assert.rejects(cyd(api.sandboxes.get, { params: { id } }), { code: 'not_found' })
  await until('its files are gone', 10_000, async () =>
    (await server.server.driver.list()).every((seen) => seen.id !== id),
  )
})

test('a sandbox that nobody uses is paused by itself', async () => {
  const dan = await server.as('dan')
  const { id } = await dan(api.sandboxes.create)
  const paused = await settled(dan, id, 'PAUSED')
  assert.match(paused.status_detail ?? '', /without use/)
})

test('room is made by those that run, the ones at rest first, and not by those that start', () => {
  const one = (id: string, status: string) => ({ id, status })
  const counted = [one('rests', 'RUNNING'), one('starts', 'STARTING'), one('works', 'RUNNING')]
  assert.deepEqual(
    makeRoom(counted, 3).map(({ id }) => id),
    ['rests'],
  )
  assert.deepEqual(makeRoom(counted, 4), [])
  assert.deepEqual(
    makeRoom(counted, 2).map(({ id }) => id),
    ['rests', 'works'],
  )
  assert.throws(() => makeRoom(counted, 1), { code: 'capacity' })
})

test('a strategy chooses among sandboxes with room as its name says', () => {
  const candidates = [
    { id: 'new', created_at: '3', last_used_at: '3', conversations: 5 },
    { id: 'unused', created_at: '2', last_used_at: '1', conversations: 4 },
    { id: 'empty', created_at: '1', last_used_at: '2', conversations: 0 },
    { id: 'full', created_at: '4', last_used_at: '0', conversations: 20 },
  ]
  const chosen = (strategy: Parameters<typeof choose>[0]) => choose(strategy, candidates, 20)
  assert.deepEqual(
    (['NO_GROUPING', 'GROUP_BY_NEWEST', 'LEAST_RECENTLY_USED', 'FEWEST_CONVERSATIONS', 'ADD_TO_ANY'] as const).map(
      chosen,
    ),
    [null, 'new', 'unused', 'empty', 'new'],
  )
})
