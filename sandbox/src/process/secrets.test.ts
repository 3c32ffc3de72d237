import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import type { IncomingHttpHeaders } from 'node:http'
import { createServer } from 'node:https'
import { connect, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { openAuthority } from '../authority.ts'
import { limit, specOf } from '../conformance-sentence.ts'
import type { Driver, Hands } from '../driver.ts'
import { processDriver } from './driver.ts'

const placeholder = 'parley-secret-0123456789abcdef'
const value = 'the real value, ü'
/** Whom the upstream's certificates are from: the way out trusts it, sandboxes do not. */
const world = openAuthority('The world of a test')

let driver: Driver
let hands: Hands
let heard: { host: string; headers: IncomingHttpHeaders; url: string }[] = []
let close: () => Promise<void>

before(async () => {
  const folder = await mkdtemp(join(tmpdir(), 'parley-secrets-'))
  const upstream = createServer(
    { SNICallback: (host, done) => done(null, world.contextFor(host)) },
    ({ headers, url = '' }, answer) => {
      heard.push({ host: headers.host ?? '', headers, url })
      answer.writeHead(404).end()
    },
  )
  await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve))
  const { port } = upstream.address() as AddressInfo
  driver = processDriver({
    stateDir: join(folder, 'state'),
    runtimeDir: join(folder, 'run'),
    egress: {
      gate: {
        decide: async ({ host }) =>
          host === 'bound.test'
            ? { allow: true, put: [{ placeholder, value: Buffer.from(value).toString('base64') }] }
            : { allow: true },
      },
      dial: async () => connect(port, '127.0.0.1'),
      ca: world.certificate,
    },
    log: () => undefined,
  })
  const spec = specOf({ env: { TOKEN: placeholder } })
  await driver.start(spec, limit())
  hands = await driver.hands(spec.id)
  close = async () => {
    await driver.remove(spec.id)
    await driver[Symbol.asyncDispose]()
    upstream.closeAllConnections()
    upstream.close()
    await rm(folder, { recursive: true })
  }
})
after(() => close())

/** Git finds the sandbox's authority as all programs do; its header is what a token would be in. */
const ask = async (host: string, header: string) => {
  heard = []
  const script = 'git -c http.extraHeader="$1" ls-remote "https://$2/ada/app?token=$TOKEN" 2>&1; env'
  const { stdout } = await hands.run({ script, args: [header, host], timeoutMs: 20_000 })
  return String(stdout)
}

test('an encrypted request to a bound host carries the value, and the sandbox never has it', async () => {
  const real = Buffer.from(value).toString('base64')
  const basic = `Basic ${Buffer.from(`ada:${placeholder}`).toString('base64')}`
  const said = await ask('bound.test', `Authorization: ${basic}`)
  assert.match(said, /not found/, said)
  const [first] = heard
  assert.equal(first?.headers.authorization, `Basic ${Buffer.from(`ada:${real}`).toString('base64')}`)
  assert.match(first?.url ?? '', new RegExp(`token=${encodeURIComponent(real)}`))
  assert.equal(first?.host, 'bound.test')
  assert.ok(!said.includes(real) && !said.includes(value))
})

test('to any other host the placeholder goes as it is, through a tunnel that nobody opens', async () => {
  // The sandbox does not trust the world of this test: what it sees there is the upstream itself.
  assert.match(await ask('other.test', `X-Token: ${placeholder}`), /certificate/)
  assert.deepEqual(heard, [])
})
