import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { api } from '@parley/contract/api'
import { scopes } from '@parley/contract/endpoint'
import { sql } from 'kysely'
import { makeKey } from '../../server/src/access/key-format.ts'
import { openTestServer } from '../../server/src/testing.ts'
import { oftenAsked } from '../tools/limits.ts'
import {
  absentId,
  type Answered,
  ask,
  flaws,
  general,
  type Named,
  named,
  paramNames,
  paramsOf,
  takesIds,
} from './requests.ts'

/* Promises that hold for every endpoint, made from the table itself: a new endpoint is tested from its first day. */

/** In the table and not answered yet. Nothing joins this list; what is served leaves it. */
const notServed: readonly string[] = []

const server = await openTestServer({ env: oftenAsked })
after(() => server[Symbol.asyncDispose]())
const { url } = server
const ada = await server.as('ada')
const [adas, eves] = await Promise.all([server.keyOf('ada'), server.keyOf('eve')])

const isServed = ({ endpoint }: Named) => server.server.served.some((one) => one.endpoint === endpoint)
const served = named.filter(isServed)
/** A socket says who it is in its first frame, and has tests of its own. */
const closed = served.filter(({ endpoint }) => endpoint.access !== 'open' && endpoint.answer !== 'socket')

const wrongSum = `${adas.slice(0, -1)}${adas.endsWith('0') ? '1' : '0'}`
async function expired(): Promise<string> {
  const made = await ada(api.keys.create, {
    body: { name: 'old', expires_at: new Date(Date.now() + 60_000).toISOString() },
  })
  await server.server.database.rows(
    sql`update api_key set expires_at = now() - interval '1 second' where id = ${made.id}`,
  )
  return made.key
}
async function deleted(): Promise<string> {
  const made = await ada(api.keys.create, { body: { name: 'gone' } })
  await ada(api.keys.current, { headers: { authorization: `Bearer ${made.key}` } })
  await ada(api.keys.delete, { params: { id: made.id } })
  return made.key
}
const strangers: Record<string, string | null> = {
  'no key': null,
  junk: 'junk',
  'a key with a wrong checksum': wrongSum,
  'a key that nobody was given': makeKey('prl'),
  'a sandbox key that nobody was given': makeKey('prs'),
  'an expired key': await expired(),
  'a deleted key': await deleted(),
}

test('every endpoint of the table is served, but for those that are listed', (t) => {
  const missing = named.filter((one) => !isServed(one)).map(({ name }) => name)
  assert.deepEqual(
    missing.filter((name) => !notServed.includes(name)),
    [],
  )
  const late = notServed.filter((name) => !missing.includes(name))
  if (late.length > 0) t.diagnostic(`served by now, and still listed: ${late.join(', ')}`)
})

for (const [what, key] of Object.entries(strangers))
  test(`every endpoint refuses ${what}`, async () => {
    for (const one of closed.filter(({ endpoint }) => endpoint.answer !== 'socket')) {
      const answered = await ask(url, one, key)
      assert.deepEqual([answered.status, answered.problem.code], [401, 'authentication_error'], one.name)
      assert.deepEqual(flaws(answered), [], one.name)
      assert.equal(answered.headers.get('www-authenticate'), 'Bearer', one.name)
    }
  })

test('all refusals of a key read the same', async () => {
  const one = closed[0] ?? assert.fail('nothing is served')
  const texts = await Promise.all(Object.values(strangers).map((key) => ask(url, one, key)))
  assert.equal(new Set(texts.map((answered) => withoutRequest(answered))).size, 1)
})

test('a key without the scope of an endpoint is refused with the name of the scope', async () => {
  const keys = new Map<string, string>()
  for (const scope of new Set(closed.map(({ endpoint }) => endpoint.access))) {
    const others = scopes.filter((one) => one !== scope)
    const { key } = await ada(api.keys.create, { body: { name: scope, scopes: others } })
    keys.set(scope, key)
  }
  for (const one of closed) {
    const { access } = one.endpoint
    if (access === 'user' || access === 'sandbox') continue
    const answered = await ask(url, one, keys.get(access) ?? null)
    assert.deepEqual(
      [answered.status, answered.problem.code, answered.problem['scope']],
      [403, 'insufficient_scope', access],
      one.name,
    )
    assert.deepEqual(flaws(answered), [], one.name)
  }
})

test('two different keys in one request are refused', async () => {
  for (const one of closed) {
    const answered = await ask(url, one, adas, { headers: { 'x-access-token': eves } })
    assert.deepEqual([answered.status, answered.problem.code], [400, 'ambiguous_credentials'], one.name)
  }
})

test('a method that a path does not have is answered with those that it has', async () => {
  for (const one of served) {
    const own = served
      .filter(({ endpoint }) => endpoint.path === one.endpoint.path)
      .map(({ endpoint }) => endpoint.method)
    for (const method of ['PUT', 'PATCH', 'DELETE'].filter((name) => !own.some((has) => has === name))) {
      const answered = await ask(url, one, adas, { method })
      // Another endpoint's path may fit the same address.
      if (answered.status !== 405 && paramNames(one.endpoint).length === 0) continue
      assert.equal(answered.status, 405, `${method} ${one.endpoint.path}`)
      const allow = answered.headers.get('allow')?.split(', ') ?? []
      for (const method of own) assert.ok(allow.includes(method), `${one.name} allows ${allow.join(', ')}`)
      assert.deepEqual(flaws(answered), [], one.name)
    }
  }
})

const badIds = ['not-a-uuid', ' '.repeat(36), `{${absentId}}`, 'x'.repeat(64), '0'.repeat(31), `${absentId}0`]
const takesUuid = ({ endpoint }: Named) => endpoint.path.includes('{') && endpoint.fails.includes('malformed_id')

test('an id that is none is refused in every place of a path and a list', async () => {
  for (const one of closed.filter(takesUuid))
    for (const id of badIds) {
      const answered = await ask(url, one, adas, { params: paramsOf(one.endpoint, id) })
      assert.deepEqual([answered.status, answered.problem.code], [400, 'malformed_id'], `${one.name} ${id}`)
      assert.deepEqual(flaws(answered), [], one.name)
    }
  for (const one of closed.filter(({ endpoint }) => takesIds(endpoint) && !endpoint.path.includes('specs'))) {
    for (const id of badIds) {
      const answered = await ask(url, one, adas, { query: { ids: [id] } })
      assert.deepEqual([answered.status, answered.problem.code], [400, 'malformed_id'], `${one.name} ${id}`)
    }
    const many = await ask(url, one, adas, { query: { ids: Array.from({ length: 101 }, () => absentId) } })
    assert.deepEqual([many.status, many.problem.code], [400, 'too_many_ids'], one.name)
  }
})

test('upper case and undashed ids are the same ids', async () => {
  const { id } = await ada(api.sandboxes.create)
  for (const form of [id.toUpperCase(), id.replaceAll('-', '')])
    assert.equal((await ada(api.sandboxes.get, { params: { id: form } })).id, id)
})

/** With these the caller gives a new conversation its id, so that one nobody has is made. */
const choosesId = new Set(['webhooks.conversation', 'webhooks.events'])

test('what is not the caller’s is answered exactly as what is not there', async () => {
  const mine = await everything()
  const before = await ada(api.conversations.get, { params: { id: mine.conversation } })
  for (const one of closed.filter(({ endpoint }) => takesIds(endpoint) && paramNames(endpoint).length === 0)) {
    const answered = await ask(url, one, eves, { query: { ids: Object.values(mine) } })
    assert.ok(answered.status >= 400 || /^\[(null,?)+\]$/.test(answered.text), `${one.name}: ${answered.text}`)
  }
  const all = closed.filter(takesUuid)
  const [last, first] = [all.filter(({ name }) => choosesId.has(name)), all.filter(({ name }) => !choosesId.has(name))]
  for (const one of [...first, ...last]) {
    const ids = Object.entries(mine)
    for (const [what, id] of ids) {
      const [foreign, absent] = await Promise.all([
        ask(url, one, eves, { params: paramsOf(one.endpoint, id) }),
        ask(url, one, eves, { params: paramsOf(one.endpoint, absentId) }),
      ])
      const lets = foreign.status < 400 && absent.status >= 400
      assert.ok(!lets, `${one.name} lets a stranger at a ${what}`)
      if (!choosesId.has(one.name))
        assert.equal(withoutRequest(foreign, id), withoutRequest(absent, absentId), `${one.name} with a ${what}`)
      else if (what === 'conversation') assert.equal(foreign.problem.code, 'not_found', one.name)
    }
  }
  // None of it has changed by what the stranger tried.
  const after = await ada(api.conversations.get, { params: { id: mine.conversation } })
  assert.deepEqual([after.title, after.last_seq, after.sandbox_status], ['Mine', before.last_seq, 'RUNNING'])
  assert.equal((await ada(api.keys.list)).filter((key) => key.id === mine.key).length, 1)
})

test('an endpoint fails only in the ways that it lists, and never with a bug', async () => {
  const mine = await everything()
  const tried: Answered[] = []
  for (const one of served.filter(({ endpoint }) => endpoint.answer !== 'socket'))
    for (const id of [absentId, mine.conversation, mine.sandbox])
      for (const body of [undefined, {}, [], null, 'text', { content: null }]) {
        // What ends ada's things for good is tried by a stranger above.
        if (id !== absentId && /delete|rotate/i.test(one.name)) continue
        const said = body === undefined ? {} : { body }
        const answered = await ask(url, one, adas, { params: paramsOf(one.endpoint, id), ...said })
        tried.push(answered)
        if (answered.status < 400) continue
        const listed = [...general, ...one.endpoint.fails]
        assert.notEqual(answered.problem.code, 'internal_error', `${one.name} ${id}`)
        assert.ok(listed.includes(answered.problem.code), `${one.name} answered ${answered.problem.code}`)
        assert.deepEqual(flaws(answered), [], one.name)
        if (one.endpoint.accepts !== 'json') break
      }
  assert.ok(tried.some(({ status }) => status < 400))
})

test('an answer is what its schema says, no field more and none less', async () => {
  const mine = await everything()
  const readers = closed.filter(({ endpoint }) => endpoint.method === 'GET' && endpoint.answer === 'json')
  let read = 0
  for (const one of readers)
    for (const id of Object.values(mine)) {
      const query = takesIds(one.endpoint) ? { ids: Object.values(mine) } : {}
      const answered = await ask(url, one, adas, { params: paramsOf(one.endpoint, id), query })
      if (answered.status !== 200) continue
      read += 1
      const value: unknown = JSON.parse(answered.text)
      // A schema drops what it does not know, so that a leak would make the two differ.
      assert.deepEqual(JSON.parse(JSON.stringify(one.endpoint.returns.parse(value))), value, one.name)
      if (paramNames(one.endpoint).length === 0) break
    }
  assert.ok(read >= 12, `only ${read} answers were read`)
})

/** One of each thing that has an id, of ada's. */
async function everything() {
  const key = await ada(api.keys.create, { body: { name: 'mine' } })
  const started = await ada(api.conversations.start, { body: { title: 'Mine' } })
  const conversation = started.request.conversation_id ?? ''
  for (let tries = 0; tries < 500; tries += 1) {
    const [task] = await ada(api.startTasks.getMany, { query: { ids: [started.id] } })
    if (task?.status === 'READY') break
    assert.notEqual(task?.status, 'ERROR', task?.detail ?? '')
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  const { sandbox_id } = await ada(api.conversations.get, { params: { id: conversation } })
  return { key: key.id, task: started.id, conversation, sandbox: sandbox_id ?? '' }
}

/** The body without what names the request, and without the id that was asked for. */
const withoutRequest = ({ status, text, problem }: Answered, id = absentId): string =>
  `${status} ${text.replaceAll(problem.request_id ?? '-', 'REQUEST').replaceAll(id, 'ID')}`
