import assert from 'node:assert/strict'
import { test } from 'node:test'
import { api } from '@parley/contract/api'
import type { AnyEndpoint } from '@parley/contract/endpoint'
import { systemClock } from '@parley/store/clock'
import { openTestDatabase } from '@parley/store/testing'
import { sql } from 'kysely'
import { migrations } from '../migrations/migrations.ts'
import { openTestServer, type TestServer } from '../testing.ts'
import { openTries } from './tries.ts'

const email = 'ada@example.org'
const password = 'correct horse battery'

/** A browser at the page: keeps its cookie, and says of each request that our own page sent it. */
function browser({ url }: TestServer) {
  let cookie = ''
  return {
    cookie: () => cookie,
    async send({ method, path }: AnyEndpoint, body?: object, headers: Record<string, string> = {}) {
      const answer = await fetch(`${url}${path}`, {
        method,
        headers: { cookie, origin: url, 'content-type': 'application/json', ...headers },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
      const [set] = answer.headers.getSetCookie()
      if (set !== undefined) cookie = set.split(';')[0] ?? ''
      return { status: answer.status, set, said: (await answer.json()) as Record<string, unknown> & { code?: string } }
    },
  }
}

async function claimed(server: TestServer) {
  const { id } = await server.server.users.ensureOwner()
  const page = browser(server)
  const token = await server.server.users.claimToken(id)
  const answer = await page.send(api.users.claim, { token, email, password })
  assert.equal(answer.status, 200)
  return { page, token, id, set: answer.set ?? '' }
}

test('the owner claims the server once with the one-time link, and is signed in by a cookie that no script reads', async () => {
  await using server = await openTestServer()
  const { page, token, set } = await claimed(server)
  assert.match(set, /^parley-session=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict; Expires=/)
  assert.equal((await page.send(api.users.me)).said.role, 'owner')
  assert.equal((await browser(server).send(api.users.claim, { token, email, password })).status, 410)
})

test('over https the cookie is bound to its host and never travels in clear', async () => {
  await using server = await openTestServer({ env: { PARLEY_BASE_URL: 'https://parley.example' } })
  const { id } = await server.server.users.ensureOwner()
  const token = await server.server.users.claimToken(id)
  const answer = await fetch(`http://127.0.0.1:${server.server.port}${api.users.claim.path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ token, email, password }),
  })
  assert.match(answer.headers.getSetCookie()[0] ?? '', /^__Host-parley-session=.*; Secure$/)
})

test('a cookie changes nothing unless our own page asks', async () => {
  await using server = await openTestServer()
  const { page } = await claimed(server)
  const strangers = [
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
  ]
  for (const headers of strangers) assert.equal((await page.send(api.keys.create, {}, headers)).status, 401)
  assert.equal((await page.send(api.keys.create, {}, { origin: 'x', 'sec-fetch-site': 'same-origin' })).status, 201)
  assert.equal((await page.send(api.keys.create, {})).status, 201)
})

test('a wrong password and an unknown person are told the same, and guessing is stopped', async () => {
  const clock = { ...systemClock, ahead: 0, millis: () => Date.now() + clock.ahead }
  await using server = await openTestServer({ clock })
  await claimed(server)
  const page = browser(server)
  const attempt = async (body: object) => {
    const { status, said } = await page.send(api.users.signIn, body)
    return [status, said.code, said.detail]
  }
  const wrong = await attempt({ email, password: 'wrong horse battery' })
  assert.deepEqual(wrong, await attempt({ email: 'nobody@example.org', password }))
  assert.deepEqual(wrong.slice(0, 2), [401, 'sign_in_failed'])
  for (let n = 2; n < 10; n++) await attempt({ email, password: 'wrong horse battery' })
  assert.equal((await attempt({ email, password }))[0], 429)
  clock.ahead = 61_000
  assert.equal((await attempt({ email: 'ADA@example.org', password }))[0], 200)
})

test('wrong tries are counted for all servers on the database, and many at once are many', async () => {
  await using test = await openTestDatabase(migrations)
  const [here, there] = [openTries(test.database, systemClock), openTries(test.database, systemClock)]
  const tried = await Promise.allSettled(Array.from({ length: 12 }, (_, n) => (n % 2 ? here : there)({ somebody: 10 })))
  assert.equal(tried.filter(({ status }) => status === 'fulfilled').length, 10)
  await assert.rejects(there({ somebody: 10 }), { code: 'quota_exceeded' })
  await (await there({ other: 1 })).right()
  await here({ other: 1 })
  await assert.rejects(there({ other: 1 }), { code: 'quota_exceeded' })
})

test('a new password ends all other sessions; signing out ends one, or all', async () => {
  await using server = await openTestServer()
  const { page } = await claimed(server)
  const other = browser(server)
  await other.send(api.users.signIn, { email, password })
  const change = { old_password: password, new_password: 'a longer and better one' }
  assert.equal((await page.send(api.users.changePassword, { ...change, old_password: 'wrong horse' })).status, 401)
  assert.equal((await page.send(api.users.changePassword, change)).status, 200)
  assert.deepEqual([(await page.send(api.users.me)).status, (await other.send(api.users.me)).status], [200, 401])
  assert.equal((await other.send(api.users.signIn, { email, password })).status, 401)
  await other.send(api.users.signIn, { email, password: change.new_password })
  const [before] = [other.cookie()]
  await other.send(api.users.signOut)
  assert.equal((await other.send(api.users.me, undefined, { cookie: before })).status, 401)
  assert.equal((await page.send(api.users.me)).status, 200)
})

test('a session that is used goes on, one that is not ends after thirty days, and none outlives ninety', async () => {
  const day = 24 * 3_600_000
  const clock = {
    ...systemClock,
    ahead: 0,
    millis: () => Date.now() + clock.ahead,
    now: () => new Date(clock.millis()).toISOString(),
  }
  await using server = await openTestServer({ clock })
  const { page } = await claimed(server)
  const idle = browser(server)
  await idle.send(api.users.signIn, { email, password })
  const idleDays = async () => {
    const used = sql<{ at: string }>`select max(last_seen_at) as at from browser_session`
    const [row] = await server.server.database.rows(used)
    return Math.floor((clock.millis() - Date.parse(row?.at ?? '')) / day)
  }
  const look = async (days: number) => {
    clock.ahead = days * day
    const { status } = await page.send(api.users.me)
    // The time of use is written beside the answer.
    while (status === 200 && (await idleDays()) > 0) await new Promise((resolve) => setTimeout(resolve, 5))
    return status
  }
  assert.deepEqual([await look(25), await look(50), await look(75), await look(89)], [200, 200, 200, 200])
  assert.equal((await idle.send(api.users.me)).status, 401)
  assert.equal(await look(91), 401)
})

test('the owner invites a person, whose link works once; nobody else invites', async () => {
  await using server = await openTestServer()
  const { page } = await claimed(server)
  const made = await page.send(api.users.createInvitation, { email: 'Grace@example.org' })
  const link = String(made.said.link)
  assert.equal(made.status, 201)
  assert.match(link, /\/join#[\w-]{43}$/)
  const listed = JSON.stringify((await page.send(api.users.listInvitations)).said)
  const token = link.split('#')[1] ?? ''
  assert.ok(listed.includes('grace@example.org') && !listed.includes(token))

  const grace = browser(server)
  const accepted = await grace.send(api.users.acceptInvitation, { token, password, name: 'Grace' })
  assert.deepEqual([accepted.status, (await grace.send(api.users.me)).said.role], [200, 'member'])
  assert.equal((await browser(server).send(api.users.acceptInvitation, { token, password })).status, 410)
  assert.equal((await grace.send(api.users.createInvitation, { email: 'bob@example.org' })).status, 403)
  assert.equal((await grace.send(api.users.listInvitations)).status, 403)
  assert.equal((await page.send(api.users.createInvitation, { email: 'grace@example.org' })).status, 409)
})

test('an invitation that is withdrawn, replaced or too old lets nobody in', async () => {
  const clock = {
    ...systemClock,
    ahead: 0,
    millis: () => Date.now() + clock.ahead,
    now: () => new Date(clock.millis()).toISOString(),
  }
  await using server = await openTestServer({ clock })
  const { page } = await claimed(server)
  const invite = async (body: object) => {
    const { said } = await page.send(api.users.createInvitation, body)
    return { id: String(said.id), token: String(said.link).split('#')[1] ?? '' }
  }
  const accept = async (token: string) =>
    (await browser(server).send(api.users.acceptInvitation, { token, password })).status
  const replaced = await invite({ email: 'grace@example.org' })
  const withdrawn = await invite({ email: 'grace@example.org' })
  const path = api.users.deleteInvitation.path.replace('{id}', withdrawn.id)
  assert.equal((await page.send({ ...api.users.deleteInvitation, path })).status, 200)
  const old = await invite({ email: 'bob@example.org' })
  clock.ahead = 8 * 24 * 3_600_000
  assert.deepEqual(
    [await accept(replaced.token), await accept(withdrawn.token), await accept(old.token)],
    [410, 410, 410],
  )
})

async function joined(server: TestServer, owner: ReturnType<typeof browser>, address: string) {
  const made = await owner.send(api.users.createInvitation, { email: address })
  const page = browser(server)
  const token = String(made.said.link).split('#')[1]
  const answer = await page.send(api.users.acceptInvitation, { token, password, name: 'Grace' })
  assert.equal(answer.status, 200)
  return { page, id: (answer.said.user as { id: string }).id }
}
const of = (endpoint: AnyEndpoint, id: string): AnyEndpoint => ({
  ...endpoint,
  path: endpoint.path.replace('{id}', id),
})

test('the owner sees everybody; who is removed is out at once, and nothing of theirs is left', async () => {
  await using server = await openTestServer()
  const { page, id: owner } = await claimed(server)
  const grace = await joined(server, page, 'grace@example.org')
  const key = String((await grace.page.send(api.keys.create, { name: 'g' })).said.key)
  const listed = (await page.send(api.users.list)).said as unknown as {
    id: string
    role: string
    last_seen_at: string
  }[]
  assert.deepEqual(
    listed.map(({ id, role }) => [id, role]),
    [
      [owner, 'owner'],
      [grace.id, 'member'],
    ],
  )
  assert.ok(listed.every(({ last_seen_at }) => last_seen_at !== null))
  for (const [call, body] of [
    [api.users.list],
    [of(api.users.remove, owner)],
    [of(api.users.change, owner), { role: 'member' }],
  ] as const)
    assert.equal((await grace.page.send(call, body)).status, 403)
  assert.equal((await page.send(of(api.users.remove, owner))).status, 409)
  assert.equal((await page.send(of(api.users.remove, grace.id))).status, 200)
  assert.equal((await grace.page.send(api.users.me)).status, 401)
  const byKey = await fetch(`${server.url}${api.users.me.path}`, { headers: { authorization: `Bearer ${key}` } })
  assert.equal(byKey.status, 401)
  assert.equal((await page.send(of(api.users.remove, grace.id))).status, 404)
})

test('there is one owner: whoever makes another person that becomes a member', async () => {
  await using server = await openTestServer()
  const { page, id: owner } = await claimed(server)
  const grace = await joined(server, page, 'grace@example.org')
  assert.equal((await page.send(of(api.users.change, owner), { role: 'member' })).status, 409)
  assert.equal((await page.send(of(api.users.change, grace.id), { role: 'owner' })).said.role, 'owner')
  assert.equal((await page.send(api.users.list)).status, 403)
  assert.equal((await grace.page.send(api.users.list)).status, 200)
  assert.equal((await page.send(api.users.me)).said.role, 'member')
})

test('a person sees where they are signed in, and ends one of these sessions', async () => {
  await using server = await openTestServer()
  const { page } = await claimed(server)
  const other = browser(server)
  await other.send(api.users.signIn, { email, password })
  const sessions = (await page.send(api.users.listSessions)).said as unknown as { id: string; current: boolean }[]
  assert.equal(sessions.length, 2)
  const elsewhere = sessions.find(({ current }) => !current) ?? assert.fail('the other one is not listed')
  assert.equal((await page.send(of(api.users.endSession, elsewhere.id))).status, 200)
  assert.equal((await other.send(api.users.me)).status, 401)
  assert.equal((await page.send(api.users.me)).status, 200)
  assert.equal((await page.send(of(api.users.endSession, elsewhere.id))).status, 404)
})
