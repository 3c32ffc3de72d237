import assert from 'node:assert/strict'
import { request as httpRequest, type IncomingMessage, type RequestOptions } from 'node:http'
import type { Duplex } from 'node:stream'
import { after, test } from 'node:test'
import { api } from '@parley/contract/api'
import type { Sandbox } from '@parley/contract/sandboxes'
import { caller } from '@parley/wire/call'
import { openTestServer } from '../testing.ts'

const server = await openTestServer()
const elsewhere = await openTestServer({ env: { PARLEY_BASE_URL: 'https://parley.example' } })
after(() => Promise.all([server[Symbol.asyncDispose](), elsewhere[Symbol.asyncDispose]()]))

/** A program that answers with the request it got; what is upgraded is echoed. */
const program = `head= up= length=0
while IFS= read -r line; do
  line=$(printf %s "$line" | tr -d '\\r'); [ -n "$line" ] || break
  head="$head$line
"
  case $line in [Uu]pgrade:*) up=1;; esac
done
if [ -n "$up" ]; then printf 'HTTP/1.1 101 Switching Protocols\\r\\nUpgrade: websocket\\r\\nConnection: Upgrade\\r\\n\\r\\n'; exec cat; fi
printf 'HTTP/1.1 200 OK\\r\\nContent-Type: text/plain\\r\\nContent-Length: %s\\r\\n' "$(printf %s "$head" | wc -c)"
printf 'Set-Cookie: a=1; Domain=localhost; Path=/\\r\\nStrict-Transport-Security: max-age=9\\r\\nClear-Site-Data: "*"\\r\\n'
printf 'Location: http://localhost:8011/next\\r\\nConnection: close\\r\\n\\r\\n%s' "$head"`

const started = async (on: typeof server): Promise<Sandbox> => {
  const ada = caller({ baseUrl: `http://127.0.0.1:${on.server.port}`, key: await on.keyOf('ada') })
  const { id } = await ada(api.sandboxes.create)
  for (let tries = 0; tries < 400; tries += 1) {
    const sandbox = await ada(api.sandboxes.get, { params: { id } })
    if (sandbox.status === 'RUNNING') return sandbox
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  return assert.fail('the sandbox never ran')
}

async function serving(on: typeof server, variable: string): Promise<Sandbox> {
  const sandbox = await started(on)
  const hands = await on.server.driver.hands(sandbox.id)
  await hands.files.write('/workspace/app.sh', Buffer.from(program))
  const port = `$${variable}`
  hands.spawn({
    argv: ['sh', '-c', `exec socat "TCP-LISTEN:${port},bind=127.0.0.1,fork,reuseaddr" EXEC:"sh /workspace/app.sh"`],
  })
  await hands.run({
    script: `until grep -q ":$(printf %04X "${port}") 0*:0000 0A" /proc/net/tcp; do sleep 0.02; done`,
    timeoutMs: 20_000,
  })
  return sandbox
}

const urlOf = ({ exposed_urls }: Sandbox, name = 'WORKER_1') =>
  new URL(exposed_urls?.find((one) => one.name === name)?.url ?? assert.fail(`there is no ${name}`))

/** As a browser that knows where the name is. */
function ask(on: typeof server, url: URL, options: RequestOptions = {}): Promise<IncomingMessage & { said: string }> {
  const headers = { ...(options.headers as Record<string, string>), host: url.host }
  return new Promise((resolve, reject) => {
    httpRequest({ ...options, host: '127.0.0.1', port: on.server.port, path: url.pathname + url.search, headers })
      .on('error', reject)
      .on('response', (answer) => {
        let said = ''
        answer.setEncoding('utf8').on('data', (text: string) => (said += text))
        answer.on('end', () => resolve(Object.assign(answer, { said })))
      })
      .end()
  })
}

test('what listens on a worker port opens at its address, a site of its own, without a key', async () => {
  const sandbox = await serving(server, 'WORKER_1')
  const url = urlOf(sandbox)
  assert.match(url.hostname, /^[0-9a-f]{62}\.localhost$/)
  assert.deepEqual(
    sandbox.exposed_urls?.map(({ name, port }) => [name, port]),
    [
      ['WORKER_1', 8011],
      ['WORKER_2', 8012],
    ],
  )
  const answer = await ask(server, new URL('/deep/path?q=1', url), {
    headers: {
      cookie: 'parley-session=secret; theme=dark; __Host-parley-sso=x',
      authorization: `Bearer ${await server.keyOf('ada')}`,
      'x-access-token': 'prl_x',
      'x-session-api-key': 'prs_x',
      origin: url.origin,
    },
  })
  assert.equal(answer.statusCode, 200)
  assert.match(answer.said, /^GET \/deep\/path\?q=1 HTTP\/1\.1\n/)
  assert.match(answer.said, /^Host: localhost:8011$/m)
  assert.match(answer.said, /^Origin: http:\/\/localhost:8011$/m)
  assert.match(answer.said, /^Cookie: theme=dark$/m)
  assert.match(answer.said, new RegExp(`^X-Forwarded-Host: ${url.host}$`, 'm'))
  assert.doesNotMatch(answer.said, /secret|prl_|prs_|authorization|x-access|x-session/i)
  assert.deepEqual(answer.headers['set-cookie'], ['a=1; Path=/'])
  assert.equal(answer.headers.location, `${url.origin}/next`)
  assert.equal(answer.headers['content-security-policy'], `frame-ancestors ${server.url}`)
  assert.deepEqual(
    [answer.headers['strict-transport-security'], answer.headers['clear-site-data'], answer.headers['referrer-policy']],
    [undefined, undefined, 'same-origin'],
  )
})

test('an application\u2019s own authorization reaches it', async () => {
  const { said } = await ask(server, urlOf(await serving(server, 'WORKER_1')), {
    headers: { authorization: 'Basic YTpi' },
  })
  assert.match(said, /^Authorization: Basic YTpi$/m)
})

test('a WebSocket reaches the program, and ends when the sandbox is paused', async () => {
  const sandbox = await serving(server, 'WORKER_2')
  const url = urlOf(sandbox, 'WORKER_2')
  const socket = await new Promise<Duplex>((resolve, reject) => {
    const headers = { host: url.host, connection: 'Upgrade', upgrade: 'websocket' }
    httpRequest({ host: '127.0.0.1', port: server.server.port, path: '/ws', headers })
      .on('upgrade', (_, stream) => resolve(stream))
      .on('error', reject)
      .end()
  })
  socket.on('error', () => undefined)
  socket.write('hello')
  assert.equal(String(await new Promise((resolve) => socket.once('data', resolve))), 'hello')
  const closed = new Promise((resolve) => socket.once('close', resolve))
  const ada = await server.as('ada')
  await ada(api.sandboxes.pause, { params: { id: sandbox.id } })
  await closed
  assert.equal((await ask(server, url)).statusCode, 409)
  assert.equal((await ada(api.sandboxes.get, { params: { id: sandbox.id } })).exposed_urls, null)
})

test('a port on which nothing listens says so, and an address that was changed opens nothing', async () => {
  const sandbox = await started(server)
  const url = urlOf(sandbox, 'WORKER_2')
  const empty = await ask(server, url)
  assert.equal(empty.statusCode, 502)
  assert.match(empty.said, /Nothing listens on port 8012/)
  const last = url.hostname.charAt(61) === '0' ? '1' : '0'
  const forged = new URL(url.href.replace(`${url.hostname.charAt(61)}.localhost`, `${last}.localhost`))
  assert.equal((await ask(server, forged)).statusCode, 404)
  assert.equal(
    (await ask(server, new URL(`http://x.localhost:${server.server.port}/api/v1/sandboxes/search`))).statusCode,
    404,
  )
})

test('without names of its own the address is a path, and the page is a site without a name', async () => {
  const url = urlOf(await serving(elsewhere, 'WORKER_1'))
  assert.match(url.href, /^https:\/\/parley\.example\/apps\/[0-9a-f]{62}\/$/)
  const answer = await ask(elsewhere, new URL('x?y', url), { headers: { cookie: 'a=1; parley-session=secret' } })
  assert.equal(answer.statusCode, 200)
  assert.match(answer.said, /^GET \/x\?y HTTP\/1\.1\n/)
  assert.doesNotMatch(answer.said, /cookie/i)
  assert.equal(answer.headers['set-cookie'], undefined)
  assert.match(
    String(answer.headers['content-security-policy']),
    /frame-ancestors https:\/\/parley\.example; sandbox allow-scripts/,
  )
  assert.doesNotMatch(String(answer.headers['content-security-policy']), /allow-same-origin|top-navigation/)
  assert.equal(answer.headers.location, `${url.href}next`)
})
