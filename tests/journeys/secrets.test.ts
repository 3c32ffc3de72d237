import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, test } from 'node:test'
import { begin, eventsOf, observations, ofKind, openHouse, rest, runs, say, says } from '../tools/house.ts'

/* Secrets whose value is fetched when a command names them, and every form in which a value could show. */

const ticket = 'ticket-of-the-vault-81c2'
const values = ['first-value-4f1c9a', 'second-value-77be02']
let asked = 0
const vault = createServer((request, response) => {
  const known = request.headers['x-ticket'] === ticket
  if (request.url === '/moved') return void response.writeHead(302, { location: '/token' }).end()
  asked += known ? 1 : 0
  response.writeHead(known ? 200 : 403).end(known ? `${values[0]}\n` : 'no')
})
await new Promise<void>((resolve) => vault.listen(0, '127.0.0.1', resolve))
const port = (vault.address() as AddressInfo).port

const house = await openHouse({
  privateHosts: [`127.0.0.1:${port}`],
  scripts: {
    uses: {
      turns: [
        runs('echo nothing'),
        runs(
          'printf %s "$TOKEN" > kept; printf %s "$TOKEN" | base64 -w0; echo; printf %s "$TOKEN" | od -An -tx1 | tr -d " \\n"',
        ),
        runs('for c in $(sed "s/./& /g" kept); do printf %s "$c"; done; echo " $TOKEN"'),
        { text: `The value is ${values[0]}, as hex ${Buffer.from(values[0] ?? '').toString('hex')}.` },
        { tools: [{ name: 'file_editor', args: { command: 'view', path: 'kept' } }] },
        { text: 'Seen.' },
      ],
    },
    lacks: { turns: [runs('echo "[$TOKEN$OTHER$MOVED]"'), { text: 'None.' }] },
  },
})
after(async () => {
  await house[Symbol.asyncDispose]()
  vault.close()
})
const { ada } = house
const lookup = (address: string, headers: Record<string, string> = { 'x-ticket': ticket }) => ({
  kind: 'LookupSecret' as const,
  url: address,
  headers,
  description: 'opens the vault',
})

test('a secret is looked up when a command names it, and hidden in every form it takes', async () => {
  const secrets = { TOKEN: lookup(`http://127.0.0.1:${port}/token`) }
  const id = await begin(ada, says('[[script:uses]] Go.', { secrets }))
  const { status, events } = await rest(ada, id)
  assert.equal(status, 'finished')
  assert.equal(asked, 1, 'once, and not before it was named')
  const seen = JSON.stringify(await eventsOf(ada, id))
  for (const form of [values[0] ?? '', ticket]) {
    const bytes = Buffer.from(form)
    for (const shown of [form, bytes.toString('base64'), bytes.toString('hex')]) assert.ok(!seen.includes(shown), shown)
  }
  assert.ok(observations(events).filter((one) => one.includes('<secret:TOKEN>')).length >= 2)
  assert.match(JSON.stringify(ofKind(events, 'SystemPromptEvent')), /TOKEN \(opens the vault\)/)
  const started = await ada.startTasks.search({ query: {} })
  assert.ok(!JSON.stringify(started).includes(ticket))

  const after = await say(ada, id, 'Look at the file.')
  const next = await rest(ada, id, after - 1)
  assert.match(observations(next.events).join(), /<secret:TOKEN>/)
})

test('a secret that cannot be had is told of, and no address inside is reached', async () => {
  const inside = { OTHER: lookup('http://127.0.0.1:1/metadata') }
  await assert.rejects(begin(ada, says('[[script:lacks]] Go.', { secrets: inside })), {
    code: 'validation_error',
    detail: 'secrets.OTHER.url cannot be used: 127.0.0.1 must not be dialled: it is loopback',
  })
  const secrets = {
    TOKEN: lookup(`http://127.0.0.1:${port}/token`, {}),
    MOVED: lookup(`http://127.0.0.1:${port}/moved`),
  }
  const id = await begin(ada, says('[[script:lacks]] Go.', { secrets }))
  const { status, events } = await rest(ada, id)
  assert.equal(status, 'finished')
  assert.match(observations(events).join(), /\[\]/)
  const told = events.filter((event) => event['code'] === 'secret_unavailable').map((event) => String(event['detail']))
  assert.equal(told.length, 2)
  assert.match(told.join('\n'), /TOKEN could not be looked up: the address answered 403/)
})
