import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, test } from 'node:test'
import { deleteConversation } from '@parley/contract/conversations'
import {
  createWebhookSubscription,
  deleteWebhookSubscription,
  replayWebhookDelivery,
  rotateWebhookSecret,
  searchWebhookDeliveries,
  searchWebhookSubscriptions,
  updateWebhookSubscription,
  type WebhookCall,
  type WebhookType,
} from '@parley/contract/webhook-subscriptions'
import { reportConversation, reportEvents } from '@parley/contract/webhooks'
import { sql } from 'kysely'
import { Webhook } from 'standardwebhooks'
import { openTestServer } from '../testing.ts'
import { delaysMs } from './send.ts'
import { openReceiver, type Receiver, soon } from './testing.ts'

const receiver = await openReceiver()
const slow = await openReceiver()
const server = await openTestServer({ privateHosts: [receiver.host, slow.host] })
after(async () => {
  await server[Symbol.asyncDispose]()
  await slow[Symbol.asyncDispose]()
  await receiver[Symbol.asyncDispose]()
})

/** Each test has a person of its own, so that no call of one test goes to another. */
async function house(
  types: WebhookType[],
  { path = `/${randomUUID()}`, to = receiver }: { path?: string; to?: Receiver } = {},
) {
  const ada = await server.as(randomUUID().slice(0, 8))
  to.answer = { status: 204 }
  const made = await ada(createWebhookSubscription, { body: { url: to.url + path, types } })
  const params = { id: made.id }
  const calls = () => to.calls.filter((call) => call.path === path)
  return {
    ada,
    made,
    calls,
    arrived: (n: number) => soon(`${n} calls`, () => calls().length >= n && calls()),
    deliveries: async () => (await ada(searchWebhookDeliveries, { params })).items,
    subscription: async () => (await ada(searchWebhookSubscriptions)).items.find((one) => one.id === made.id),
    settled: (status: string, n = 1) =>
      soon(`${n} are ${status}`, async () => {
        const items = (await ada(searchWebhookDeliveries, { params })).items
        return items.filter((one) => one.status === status && one.attempts > 0).length >= n && items
      }),
  }
}

type House = Awaited<ReturnType<typeof house>>
const bodyOf = (call: { body: string } | undefined) => JSON.parse(call?.body ?? '{}') as WebhookCall
const verify = (secret: string, call: { body: string; headers: object } | undefined) =>
  new Webhook(secret).verify(call?.body ?? '', (call?.headers ?? {}) as Record<string, string>)

async function reported({ ada }: House, id: string = randomUUID()): Promise<string> {
  await ada(reportConversation, {
    body: { id, workspace: { working_dir: '/w' }, agent: { llm: { model: 'openai/gpt-5' } } },
  })
  return id
}
const tell = ({ ada }: House, id: string, ...events: object[]) =>
  ada(reportEvents, {
    params: { conversation_id: id },
    body: events.map((one) => ({ id: randomUUID(), ...one })) as never,
  })
const status = (value: string) => ({
  source: 'environment',
  kind: 'ConversationStateUpdateEvent',
  key: 'execution_status',
  value,
})
const note = (detail: string) => ({ source: 'environment', kind: 'NoticeEvent', code: 'x', detail, level: 'info' })
const dueNow = (id: string) =>
  server.server.database.rows(sql`update webhook_delivery set next_attempt_at = now() where subscription_id = ${id}`)

test('what happens to a conversation is told with its number, signed, once for each subscription', async () => {
  const types: WebhookType[] = [
    'conversation.started',
    'conversation.status_changed',
    'conversation.finished',
    'conversation.deleted',
  ]
  const one = await house(types)
  const id = await reported(one)
  await tell(one, id, note('a'), status('running'))
  await tell(one, id, status('finished'))
  await one.arrived(4)
  const told = one.calls().map((call) => [bodyOf(call).type, bodyOf(call).data['seq']])
  assert.deepEqual(
    told.toSorted(),
    [
      ['conversation.started', 0],
      ['conversation.status_changed', 2],
      ['conversation.status_changed', 3],
      ['conversation.finished', 3],
    ].toSorted(),
  )
  for (const call of one.calls()) verify(one.made.secret, call)
  assert.throws(() => verify(`whsec_${Buffer.alloc(32).toString('base64')}`, one.calls()[0]))
  await one.settled('delivered', 4)
  await one.ada(deleteConversation, { params: { id } })
  await one.arrived(5)
  assert.deepEqual(bodyOf(one.calls()[4]), {
    ...bodyOf(one.calls()[4]),
    type: 'conversation.deleted',
    data: { conversation_id: id },
  })
})

test('each event of the log is told with what is in it, from the subscription on', async () => {
  const one = await house(['conversation.event'])
  const id = await reported(one)
  await tell(one, id, note('first'), note('second'))
  await one.arrived(2)
  const told = one.calls().map((call) => bodyOf(call).data as { seq: number; event: { detail: string; seq: number } })
  assert.deepEqual(
    told.toSorted((a, b) => a.seq - b.seq).map(({ seq, event }) => [seq, event.seq, event.detail]),
    [
      [1, 1, 'first'],
      [2, 2, 'second'],
    ],
  )
  const { ada } = one
  const late = await ada(createWebhookSubscription, {
    body: { url: `${receiver.url}/late`, types: ['conversation.event'] },
  })
  await tell(one, id, note('third'))
  await one.arrived(3)
  await soon('the late one', () => receiver.calls.some((call) => call.path === '/late'))
  const seen = receiver.calls.filter((call) => call.path === '/late')
  assert.deepEqual(
    seen.map((call) => bodyOf(call).data['seq']),
    [3],
  )
  await ada(deleteWebhookSubscription, { params: { id: late.id } })
})

test('nobody is told what is another person\u2019s', async () => {
  const [one, other] = [
    await house(['conversation.event', 'conversation.started']),
    await house(['conversation.started']),
  ]
  await tell(one, await reported(one), note('x'))
  await one.arrived(2)
  assert.deepEqual([other.calls(), await other.deliveries()], [[], []])
  const { id } = one.made
  await assert.rejects(other.ada(searchWebhookDeliveries, { params: { id } }), { code: 'not_found' })
  await assert.rejects(other.ada(rotateWebhookSecret, { params: { id } }), { code: 'not_found' })
  await assert.rejects(other.ada(deleteWebhookSubscription, { params: { id } }), { code: 'not_found' })
})

test('a call that fails is made again under the same id, until it is answered well', async () => {
  const one = await house(['conversation.started'])
  receiver.answer = { status: 500 }
  await reported(one)
  await one.arrived(1)
  const [failed] = await soon('the failure is noted', async () => {
    const items = await one.deliveries()
    return items[0]?.attempts === 1 && items
  })
  assert.deepEqual([failed?.status, failed?.response_status], ['pending', 500])
  assert.notEqual(failed?.next_attempt_at, null)
  receiver.answer = { status: 200 }
  await dueNow(one.made.id)
  const [delivered] = await one.settled('delivered')
  assert.equal(delivered?.attempts, 2)
  const [first, second] = one.calls()
  assert.equal(first?.headers['webhook-id'], second?.headers['webhook-id'])
  assert.equal(first?.body, second?.body)
})

test('an address that never answers well is tried for about three days, then it is left alone', async () => {
  const one = await house(['conversation.started'])
  receiver.answer = { status: 500 }
  await reported(one)
  for (let tries = 1; tries <= delaysMs.length + 1; tries += 1) {
    await one.arrived(tries)
    await soon('it is noted', async () => (await one.deliveries())[0]?.attempts === tries)
    await dueNow(one.made.id)
  }
  const [given] = await one.deliveries()
  assert.equal(given?.status, 'failed')
  const days = delaysMs.reduce((sum, ms) => sum + ms, 0) / 86_400_000
  assert.ok(days > 3 && days < 4)
  const off = await soon('it is paused', async () => {
    const now = await one.subscription()
    return now?.enabled === false && now
  })
  assert.match(off.paused_reason ?? '', /failed/)
})

test('an address that is gone is not called again, and can be enabled anew', async () => {
  const one = await house(['conversation.started'])
  receiver.answer = { status: 410 }
  await reported(one)
  const off = await soon('it is off', async () => {
    const now = await one.subscription()
    return now?.enabled === false && now
  })
  assert.match(off.paused_reason ?? '', /410/)
  await reported(one)
  assert.equal((await one.deliveries()).length, 1)
  receiver.answer = { status: 204 }
  const on = await one.ada(updateWebhookSubscription, { params: { id: one.made.id }, body: { enabled: true } })
  assert.deepEqual([on.enabled, on.paused_reason], [true, null])
  await reported(one)
  await one.settled('delivered')
})

test('Retry-After is waited for when it is longer than the usual delay', async () => {
  const one = await house(['conversation.started'])
  receiver.answer = { status: 429, headers: { 'retry-after': '3600' } }
  await reported(one)
  const item = await soon('a delay', async () => (await one.deliveries()).find((row) => row.attempts === 1))
  assert.ok(Date.parse(item.next_attempt_at ?? '') - Date.parse(item.created_at) >= 3_600_000)
})

test('a redirect is not followed', async () => {
  const one = await house(['conversation.started'])
  receiver.answer = { status: 302, headers: { location: `${receiver.url}/elsewhere` } }
  await reported(one)
  const item = await soon('a try', async () => (await one.deliveries()).find((row) => row.attempts === 1))
  assert.match(item.error ?? '', /redirect/)
  assert.ok(!receiver.calls.some((call) => call.path === '/elsewhere'))
})

test('an address that does not answer delays nobody else', async () => {
  const stuck = await house(['conversation.started'], { to: slow })
  slow.answer = 'silence'
  const other = await stuck.ada(createWebhookSubscription, {
    body: { url: `${receiver.url}/prompt`, types: ['conversation.started'] },
  })
  receiver.answer = { status: 204 }
  for (let n = 0; n < 6; n += 1) await reported(stuck)
  await soon('the prompt one has all', () => receiver.calls.filter((call) => call.path === '/prompt').length === 6)
  await soon('four wait at the slow one', () => stuck.calls().length === 4)
  await stuck.ada(deleteWebhookSubscription, { params: { id: stuck.made.id } })
  await stuck.ada(deleteWebhookSubscription, { params: { id: other.id } })
})

test('a secret that was replaced signs for a day more', async () => {
  const one = await house(['conversation.started'])
  const { secret } = await one.ada(rotateWebhookSecret, { params: { id: one.made.id } })
  assert.notEqual(secret, one.made.secret)
  await reported(one)
  const [call] = await one.arrived(1)
  verify(secret, call)
  verify(one.made.secret, call)
  const stored = await server.server.database.rows(
    sql<{ sealed_secrets: string }>`select sealed_secrets from webhook_subscription`,
  )
  assert.ok(!JSON.stringify(stored).includes(secret.slice(6)))
})

test('a delivery can be sent again, with the same body under the same id', async () => {
  const one = await house(['conversation.started'])
  await reported(one)
  const [row] = await one.settled('delivered')
  const again = await one.ada(replayWebhookDelivery, {
    params: { id: one.made.id, delivery_id: row?.id ?? '' },
  })
  assert.deepEqual([again.status, again.delivered_at], ['pending', null])
  const [first, second] = await one.arrived(2)
  assert.equal(first?.body, second?.body)
  assert.equal(first?.headers['webhook-id'], second?.headers['webhook-id'])
})

test('an address that says itself that it leads inside is not taken, unless the operator named it', async () => {
  const one = await house(['conversation.started'])
  const inside = [
    '127.0.0.1:8099',
    '10.0.0.7',
    '169.254.169.254',
    '[::1]:80',
    '[fd00:ec2::254]',
    'localhost:1',
    '2130706433',
  ]
  for (const host of [...inside, 'a.localhost', `localhost:${new URL(receiver.url).port}`]) {
    const url = `http://${host}/hook`
    const refused = { code: 'validation_error', detail: /^url cannot be used: .* must not be dialled: it is / }
    await assert.rejects(
      one.ada(createWebhookSubscription, { body: { url, types: ['conversation.started'] } }),
      refused,
    )
    await assert.rejects(one.ada(updateWebhookSubscription, { params: { id: one.made.id }, body: { url } }), refused)
  }
  const body = { url: `${slow.url}/named` }
  assert.equal((await one.ada(updateWebhookSubscription, { params: { id: one.made.id }, body })).url, body.url)
})

test('an address inside that was named once is not called any more, and the log says so', async () => {
  const one = await house(['conversation.deleted'])
  const body = { url: `${receiver.url}/once`, types: ['conversation.started' as const] }
  const { id } = await one.ada(createWebhookSubscription, { body })
  await server.server.database.rows(
    sql`update webhook_subscription set url = 'http://127.0.0.1:8099/hook' where id = ${id} returning id`,
  )
  await reported(one)
  const tried = await soon('a try', async () => {
    const { items } = await one.ada(searchWebhookDeliveries, { params: { id } })
    return items.find((row) => row.attempts === 1)
  })
  assert.match(tried.error ?? '', /must not be dialled/)
  await one.ada(deleteWebhookSubscription, { params: { id } })
})

test('the conversation of another person cannot be subscribed', async () => {
  const [one, other] = [await house(['conversation.started']), await house(['conversation.started'])]
  const body = { url: receiver.url, types: ['conversation.started' as const], conversation_id: await reported(other) }
  await assert.rejects(one.ada(createWebhookSubscription, { body }), { code: 'not_found' })
})

test('what was told of a conversation goes with it', async () => {
  const one = await house(['conversation.event'])
  const id = await reported(one)
  await tell(one, id, note('private'))
  await one.settled('delivered')
  await one.ada(deleteConversation, { params: { id } })
  assert.deepEqual(await one.deliveries(), [])
})

test('subscriptions and deliveries come in pages', async () => {
  const one = await house(['conversation.event'])
  const id = await reported(one)
  await tell(one, id, ...Array.from({ length: 5 }, (_, n) => note(String(n))))
  await one.settled('delivered', 5)
  const params = { id: one.made.id }
  const first = await one.ada(searchWebhookDeliveries, { params, query: { limit: 3 } })
  const rest = await one.ada(searchWebhookDeliveries, {
    params,
    query: { limit: 3, page_id: first.next_page_id ?? '' },
  })
  assert.equal(new Set([...first.items, ...rest.items].map((row) => row.id)).size, 5)
  assert.equal(rest.next_page_id, null)
  const none = await one.ada(searchWebhookDeliveries, { params, query: { status__eq: 'failed' } })
  assert.deepEqual(none.items, [])
})
