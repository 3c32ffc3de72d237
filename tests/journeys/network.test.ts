import assert from 'node:assert/strict'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, test } from 'node:test'
import { begin, observations, ofKind, openHouse, rest, runs, says } from '../tools/house.ts'

/* What a sandbox reaches, what it is told when it does not, and secrets that go to their hosts alone. */

const heard: IncomingMessage[] = []
const upstream = createServer((request, response) => {
  heard.push(request)
  response.end('hello from outside')
})
await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve))
const place = `127.0.0.1:${(upstream.address() as AddressInfo).port}`
const value = 'the-value-of-a-bound-secret'

/** A request through the proxy; the answer is printed. */
const ask = (host: string, more = '') =>
  `{ printf 'GET http://%s/x HTTP/1.0\\r\\n${more}\\r\\n' ${host}; sleep 1; } | socat -t5 -T5 - TCP4:127.0.0.1:3128`

const house = await openHouse({
  scripts: {
    refused: { turns: [runs(ask('refused.test')), { text: 'Told.', expect: 'The network refused refused.test:80' }] },
    listed: { turns: [runs(ask(place)), { text: 'Done.' }] },
    bound: {
      turns: [
        runs(`echo "seen: $TOKEN"; ${ask(place, 'Authorization: Bearer $TOKEN\\r\\n').replaceAll("'", '"')}`),
        { text: 'Done.' },
      ],
    },
  },
  privateHosts: [place],
})
after(async () => {
  await house[Symbol.asyncDispose]()
  upstream.close()
})
const { ada, llm } = house

test('a refusal says what to do, in the answer, in an event, and to the model', async () => {
  await llm.clear()
  const id = await begin(ada, says('[[script:refused]] Go.'))
  const { events } = await rest(ada, id)
  assert.match(observations(events).join(), /403 Refused by the network policy of Parley[^]*egress_hosts/)
  const notices = ofKind(events, 'NoticeEvent').filter(({ code }) => code === 'egress_refused')
  assert.equal(notices.length, 1)
  assert.match(String(notices[0]?.detail), /refused\.test:80.*tell the user/)
  assert.ok(!(await llm.log()).summary.expectFailed, 'the model was not told')
})

test('a host is reached when the settings list it, and not with the policy none', async () => {
  await ada.settings.update({ body: { egress_hosts: [place] } })
  const open = await rest(ada, await begin(ada, says('[[script:listed]] Go.')))
  assert.match(observations(open.events).join(), /hello from outside/)
  const closed = await rest(ada, await begin(ada, says('[[script:listed]] Go.', { egress_policy: 'none' })))
  assert.match(observations(closed.events).join(), /the policy "none"/)
  await ada.settings.update({ body: { egress_hosts: null } })
})

test('a secret bound to a host goes there, and the sandbox, the log and the answers never have it', async () => {
  await ada.secrets.create({ body: { name: 'TOKEN', value, hosts: [place] } })
  assert.deepEqual((await ada.secrets.list()).custom_secrets, [{ name: 'TOKEN', description: null, hosts: [place] }])
  heard.length = 0
  const { events } = await rest(ada, await begin(ada, says('[[script:bound]] Go.')))
  assert.match(observations(events).join(), /seen: parley-secret-[0-9a-f]{32}\n[^]*hello from outside/)
  assert.equal(heard[0]?.headers.authorization, `Bearer ${value}`)
  assert.ok(!JSON.stringify(events).includes(value))
  // Other hosts, or none at all, only with the value.
  for (const hosts of [['other.test'], null])
    await assert.rejects(ada.secrets.update({ params: { id: 'TOKEN' }, body: { name: 'TOKEN', hosts } }), {
      code: 'validation_error',
    })
  await ada.secrets.update({ params: { id: 'TOKEN' }, body: { name: 'TOKEN', hosts: ['other.test'], value } })
})
