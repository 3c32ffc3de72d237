import assert from 'node:assert/strict'
import { test } from 'node:test'
import { scopes } from '@parley/contract/endpoint'
import { openWire } from '@parley/wire/testing'
import { gitRoutes } from './routes.ts'
import { openHouse } from './testing.ts'

/** Every caller is ada. All that is answered is kept. */
async function openApi() {
  const house = await openHouse()
  const who = { owner: house.ada, kind: 'key', id: 'k', scopes } as const
  const wire = await openWire(gitRoutes(house.git), { doors: { identify: async () => who } })
  const said: string[] = []
  const read = async (answer: Promise<Response>) => {
    const { status } = await answer
    const body = await (await answer).text()
    said.push(body)
    return { status, body: JSON.parse(body) as Record<string, unknown> }
  }
  return {
    house,
    get: (path: string) => read(wire.get(path)),
    post: (path: string, body: unknown) => read(wire.post(path, JSON.stringify(body))),
    everything: () => said.join('\n') + JSON.stringify(wire.log.lines),
    async [Symbol.asyncDispose]() {
      await wire[Symbol.asyncDispose]()
      await house[Symbol.asyncDispose]()
    },
  }
}

test('a forge is connected under any of its names, and its token is never said again', async () => {
  await using api = await openApi()
  const { url } = api.house.forge
  const connect = (token: string) =>
    api.post('/api/v1/secrets/git-providers', { provider_tokens: { forgejo: { token, host: url } } })
  const refused = await connect('not-a-token')
  assert.deepEqual([refused.status, refused.body['code']], [403, 'forge_token_rejected'])
  assert.deepEqual((await connect('token-of-ada')).body, { message: 'Git providers stored' })
  const found = await api.get('/api/v1/git/repositories/search?provider=gitea&query=widgets')
  const [widgets] = found.body['items'] as Record<string, unknown>[]
  assert.deepEqual([widgets?.['full_name'], widgets?.['git_provider']], ['acme/widgets', 'open_forge'])
  const accounts = await api.get('/api/v1/git/accounts')
  assert.equal(accounts.status, 200)
  api.house.forge.fault = { kind: 'status', status: 500 }
  assert.equal((await api.get('/api/v1/git/branches/search?provider=gitea&repository=acme/widgets')).status, 502)
  assert.doesNotMatch(api.everything(), /token-of-ada|not-a-token/)
})

test('what a search asks wrongly is told by status and code', async () => {
  await using api = await openApi()
  const tell = async (path: string) => {
    const { status, body } = await api.get(`/api/v1/git/${path}`)
    return [status, body['code']]
  }
  assert.deepEqual(await tell('repositories/search?provider=open_forge'), [403, 'forge_not_connected'])
  assert.deepEqual(await tell('suggested-tasks/search'), [403, 'forge_not_connected'])
  assert.deepEqual(await tell('repositories/search'), [422, 'validation_error'])
  assert.deepEqual(await tell('repositories/search?provider=nowhere'), [422, 'validation_error'])
  assert.deepEqual(await tell('branches/search?provider=gitea&repository=..%2Fx'), [422, 'validation_error'])
  const unsorted = 'repositories/search?provider=open_forge&sort_order=stars-asc'
  assert.deepEqual(await tell(unsorted), [400, 'sort_order_without_query'])
})
