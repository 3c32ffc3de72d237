import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { mock, test } from 'node:test'
import { api } from '@parley/contract/api'
import { caller } from '@parley/wire/call'
import Provider from 'oidc-provider'
import { openTestServer, type TestServer } from '../testing.ts'

/* Against a real OpenID Connect provider on loopback: only the person at the browser is played. */

const people: Record<string, { email: string; email_verified: boolean; name: string }> = {
  ada: { email: 'ada@example.org', email_verified: true, name: 'Ada' },
  grace: { email: 'grace@team.example', email_verified: true, name: 'Grace' },
  mallory: { email: 'ada@example.org', email_verified: false, name: 'Mallory' },
  heir: { email: 'ada@example.org', email_verified: true, name: 'Heir' },
}

const client = { client_id: 'parley', client_secret: 'a secret of a test' }
const portOf = (server: Server): number => (server.address() as AddressInfo).port

async function listening(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return portOf(server)
}

/** A port that nobody uses now, for a server that must know its own address beforehand. */
async function freePort(): Promise<number> {
  const server = createServer()
  const port = await listening(server)
  server.close()
  await once(server, 'close')
  return port
}

/** A server whose people sign in with the provider. */
async function openHouse(env: Record<string, string> = {}) {
  const http = createServer()
  const issuer = `http://127.0.0.1:${await listening(http)}`
  const baseUrl = `http://127.0.0.1:${await freePort()}`
  /* oxlint-disable no-console -- the provider warns of its own defaults, which are for tests */
  const quiet = mock.method(console, 'warn', () => undefined)
  const provider = new Provider(issuer, {
    clients: [{ ...client, redirect_uris: [`${baseUrl}${api.users.finishSso.path}`] }],
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'] },
    cookies: { keys: ['of a test'] },
    ttl: { Interaction: 600, Session: 600, Grant: 600, AccessToken: 600, IdToken: 600 },
    findAccount: (_context: unknown, id: string) => ({ accountId: id, claims: () => ({ sub: id, ...people[id] }) }),
  })
  quiet.mock.restore()
  http.on('request', provider.callback())
  const server = await openTestServer({
    env: {
      PARLEY_PORT: new URL(baseUrl).port,
      PARLEY_BASE_URL: baseUrl,
      PARLEY_OIDC_ISSUER: issuer,
      PARLEY_OIDC_CLIENT_ID: client.client_id,
      PARLEY_OIDC_CLIENT_SECRET: client.client_secret,
      ...env,
    },
  })
  return {
    server,
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]()
      http.closeAllConnections()
      http.close()
    },
  }
}

/** A browser that follows redirects, keeps cookies by host and port, and fills in the provider's forms. */
function browser(server: TestServer, login: string) {
  const jars = new Map<string, Map<string, string>>()
  const jarOf = (url: URL) =>
    jars.get(url.host) ?? jars.set(url.host, new Map()).get(url.host) ?? new Map<string, string>()

  async function ask(url: URL, form?: Record<string, string>): Promise<Response> {
    const jar = jarOf(url)
    const answer = await fetch(url, {
      redirect: 'manual',
      headers: { cookie: [...jar].map(([name, value]) => `${name}=${value}`).join('; ') },
      ...(form ? { method: 'POST', body: new URLSearchParams(form) } : {}),
    })
    for (const set of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(set) ?? []
      if (/max-age=0|expires=thu, 01 jan 1970/i.test(set)) jar.delete(name)
      else jar.set(name, value)
    }
    return answer
  }

  /** Goes on until an address is asked for that `stop` knows, or there is nowhere to go. */
  async function follow(from: string, stop: (url: URL) => boolean): Promise<URL> {
    let url = new URL(from)
    for (let steps = 0; steps < 20; steps++) {
      if (stop(url)) return url
      let answer = await ask(url)
      if (answer.status === 200) {
        const prompt = /name="prompt" value="(\w+)"/.exec(await answer.text())?.[1]
        if (prompt === undefined) return url
        answer = await ask(url, { prompt, login, password: 'any' })
      }
      url = new URL(answer.headers.get('location') ?? '', url)
    }
    throw new Error('the redirects do not end')
  }

  const start = `${server.url}${api.users.startSso.path}`
  return {
    follow,
    ask,
    cookies: () => [...jarOf(new URL(server.url))].map(([name, value]) => `${name}=${value}`).join('; '),
    signIn: (returnTo = '/') =>
      follow(
        `${start}?return_to=${encodeURIComponent(returnTo)}`,
        (url) => url.origin === server.url && !url.pathname.startsWith('/api'),
      ),
    /** Up to the way back, which is not taken. */
    untilCallback: () => follow(start, (url) => url.pathname === api.users.finishSso.path),
    me: async () => {
      const answer = await ask(new URL(`${server.url}${api.users.me.path}`))
      return (await answer.json()) as Record<string, unknown>
    },
  }
}

test('a person with an account signs in with the provider, and comes back to where they were', async () => {
  await using house = await openHouse({ PARLEY_OWNER_EMAIL: 'ada@example.org' })
  const { server } = house
  const owner = await server.server.users.ensureOwner('ada@example.org')
  const ada = browser(server, 'ada')
  const back = await ada.signIn('/conversations?tab=1')
  assert.equal(`${back.pathname}${back.search}`, '/conversations?tab=1')
  const me = await ada.me()
  assert.deepEqual([me.id, me.name, me.role], [owner.id, 'Ada', 'owner'])
})

test('a person who came with the provider sets a first password in the browser, and signs in with it', async () => {
  await using house = await openHouse()
  const { server } = house
  await server.server.users.ensureMember('ada@example.org')
  const ada = browser(server, 'ada')
  await ada.signIn()
  assert.equal((await ada.me()).has_password, false)
  const body = { new_password: 'correct horse battery' }
  const key = await server.as('ada')
  await assert.rejects(key(api.users.changePassword, { body }), { code: 'sign_in_failed' })
  const send = (said: object) =>
    fetch(`${server.url}${api.users.changePassword.path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin: server.url, cookie: ada.cookies() },
      body: JSON.stringify(said),
    })
  assert.equal((await send(body)).status, 200)
  assert.equal((await ada.me()).has_password, true)
  assert.equal((await send({ new_password: 'another one without the old' })).status, 401)
  const credentials = { email: 'ada@example.org', password: body.new_password }
  await caller({ baseUrl: server.url })(api.users.signIn, { body: credentials })
})

test('who has no account, no verified address or another person\u2019s address does not come in', async () => {
  await using house = await openHouse()
  const { server } = house
  await server.server.users.ensureMember('ada@example.org')
  for (const login of ['grace', 'mallory']) {
    const person = browser(server, login)
    const back = await person.signIn()
    assert.equal(`${back.pathname}${back.hash}`, '/sign-in#error=sso_not_allowed', login)
    assert.equal((await person.me()).code, 'authentication_error')
  }
  await browser(server, 'ada').signIn()
  assert.equal((await browser(server, 'heir').signIn()).hash, '#error=sso_not_allowed')
})

test('people of an allowed domain become members at their first sign-in, once', async () => {
  await using house = await openHouse({ PARLEY_OIDC_ALLOWED_DOMAINS: 'team.example' })
  const { server } = house
  const first = browser(server, 'grace')
  assert.equal((await first.signIn()).pathname, '/')
  const again = browser(server, 'grace')
  await again.signIn()
  const me = await first.me()
  assert.deepEqual([me.role, me.email], ['member', 'grace@team.example'])
  assert.equal((await again.me()).id, me.id)
})

test('a sign-in that another browser began, or that was changed on the way, is refused', async () => {
  await using house = await openHouse()
  const { server } = house
  await server.server.users.ensureMember('ada@example.org')
  const failed = async (way: URL, by: ReturnType<typeof browser>) => {
    const answer = await by.ask(way)
    assert.deepEqual([answer.status, answer.headers.get('location')], [303, `${server.url}/sign-in#error=sso_failed`])
    assert.equal((await by.me()).code, 'authentication_error')
  }
  const ada = browser(server, 'ada')
  await failed(await ada.untilCallback(), browser(server, 'ada'))
  for (const [name, value] of Object.entries({ state: 'another', code: 'another', iss: 'https://evil.example' })) {
    const person = browser(server, 'ada')
    const way = await person.untilCallback()
    way.searchParams.set(name, value)
    await failed(way, person)
  }
})

test('nobody is sent to another site after signing in', async () => {
  await using house = await openHouse()
  for (const to of ['https://evil.example', '//evil.example', '/\\evil.example', 'evil']) {
    const answer = await fetch(`${house.server.url}${api.users.startSso.path}?return_to=${encodeURIComponent(to)}`, {
      redirect: 'manual',
    })
    assert.equal(answer.status, 422, to)
  }
})

test('a server without a provider says so', async () => {
  await using server = await openTestServer()
  const answer = await fetch(`${server.url}${api.users.startSso.path}`, { redirect: 'manual' })
  assert.equal(answer.status, 404)
})
