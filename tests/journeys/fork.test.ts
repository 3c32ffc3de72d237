import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { getConversation } from '@parley/contract/conversations'
import { getSettings } from '@parley/contract/settings'
import { begin, eventsOf, ofKind, openHouse, rest, runs, say, says, until } from '../tools/house.ts'

const house = await openHouse({
  scripts: {
    write: { turns: [runs('echo first > note.txt; pwd'), { text: 'Written.' }] },
    change: { turns: [runs('echo second >> note.txt; cat note.txt; pwd'), { text: 'Changed.' }] },
  },
})
after(() => house[Symbol.asyncDispose]())
const { ada } = house
const key = await house.server.keyOf('ada')

test('a fork has the events up to its point and a workspace of its own, and both go their own ways', async () => {
  const id = await begin(ada, says('[[script:write]] Write.'))
  await rest(ada, id)
  const before = await eventsOf(ada, id)
  const fork = await ada.conversations.fork({ params: { id }, body: { from_seq: before.length, title: 'Another way' } })
  assert.deepEqual(
    [fork.title, fork.forked_from_conversation_id, fork.execution_status, fork.last_seq],
    ['Another way', id, 'idle', before.length],
  )
  assert.deepEqual(
    (await eventsOf(ada, fork.id)).map((event) => event.id),
    before.map((event) => event.id),
  )
  const seq = await say(ada, fork.id, '[[script:change]] Change.')
  assert.equal((await rest(ada, fork.id, seq)).status, 'finished')
  const seen = JSON.stringify(ofKind(await eventsOf(ada, fork.id), 'ObservationEvent').at(-1))
  assert.match(seen, /first\\nsecond/)
  const changes = await ada.conversations.gitDiff({ params: { id }, query: { path: 'note.txt' } })
  assert.equal(changes.modified, 'first\n')
})

test('a fork at a point that is not there is refused and makes nothing', async () => {
  const id = await begin(ada, says('[[script:write]] Write.'))
  await rest(ada, id)
  const body = { from_seq: 10_000 }
  await assert.rejects(ada.conversations.fork({ params: { id }, body }), { code: 'not_found' })
})

test('to resume a conversation resumes its paused sandbox', async () => {
  const id = await begin(ada, says('[[script:write]] Write.'))
  await rest(ada, id)
  const { sandbox_id } = await ada.conversations.get({ params: { id } })
  await ada.sandboxes.pause({ params: { id: sandbox_id ?? '' } })
  await ada.conversations.resume({ params: { id } })
  const running = async () => (await ada.conversations.get({ params: { id } })).sandbox_status === 'RUNNING'
  await until('the sandbox runs', 10_000, running)
})

test('conversations that share a sandbox have a folder each', async () => {
  await ada.settings.update({ body: { sandbox_grouping_strategy: 'GROUP_BY_NEWEST' } })
  const one = await begin(ada, says('[[script:write]] Write.'))
  await rest(ada, one)
  const other = await begin(ada, says('[[script:change]] Change.'))
  await rest(ada, other)
  await ada.settings.update({ body: { sandbox_grouping_strategy: 'NO_GROUPING' } })
  const [first, second] = await ada.conversations.getMany({ query: { ids: [one, other] } })
  assert.equal(first?.sandbox_id, second?.sandbox_id)
  const diff = await ada.conversations.gitDiff({ params: { id: other }, query: { path: 'note.txt' } })
  assert.equal(diff.modified, 'second\n')
})

test('a change that names another version than the one there is is refused, and one that names it is made', async () => {
  await ada.settings.update({ body: { language: 'en' } })
  const read = (path: string) => fetch(`${house.server.url}${path}`, { headers: { authorization: `Bearer ${key}` } })
  const change = (path: string, method: string, tag: string, body: object) =>
    fetch(`${house.server.url}${path}`, {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', 'if-match': tag },
      body: JSON.stringify(body),
    })
  const tag = (await read(getSettings.path)).headers.get('etag') ?? ''
  assert.equal((await change(getSettings.path, 'POST', '"another"', { language: 'de' })).status, 412)
  assert.equal((await change(getSettings.path, 'POST', tag, { language: 'fr' })).status, 200)
  assert.equal((await change(getSettings.path, 'POST', tag, { language: 'it' })).status, 412)
  assert.equal((await ada.settings.get()).language, 'fr')

  // With a title: else it gets one, and another version, some time after its first message.
  const id = await begin(ada, says('[[script:write]] Write.', { title: 'Maybe' }))
  await rest(ada, id)
  const path = getConversation.path.replace('{id}', id)
  const seen = (await read(path)).headers.get('etag') ?? ''
  assert.equal((await change(path, 'PATCH', '"another"', { title: 'No' })).status, 412)
  assert.equal((await change(path, 'PATCH', seen, { title: 'Yes' })).status, 200)
})

test('a sandbox reads the secrets of its owner with its own key, and with no other', async () => {
  await ada.secrets.create({ body: { name: 'NPM_TOKEN', value: 'not-a-real-token' } })
  const { id, session_api_key } = await ada.sandboxes.create()
  const path = `/api/v1/sandboxes/${id}/settings/secrets`
  const ask = (path: string, key: string) =>
    fetch(`${house.server.url}${path}`, { headers: { 'X-Session-API-Key': key } })
  let list = await ask(path, session_api_key ?? '')
  for (let tries = 0; list.status === 409 && tries < 100; tries += 1) {
    await new Promise((resolve) => setTimeout(resolve, 50))
    list = await ask(path, session_api_key ?? '')
  }
  assert.deepEqual(
    ((await list.json()) as { secrets: { name: string }[] }).secrets.map((one) => one.name),
    ['NPM_TOKEN'],
  )
  assert.equal(await (await ask(`${path}/NPM_TOKEN`, session_api_key ?? '')).text(), 'not-a-real-token')
  assert.equal((await ask(path, key)).status, 403)
  assert.equal((await ask(path.replace(id, '019a0000-0000-7000-8000-000000000000'), session_api_key ?? '')).status, 404)
  await ada.sandboxes.pause({ params: { id } })
  assert.equal((await ask(path, session_api_key ?? '')).status, 401)
})
