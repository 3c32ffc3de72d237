import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { request, type IncomingMessage } from 'node:http'
import { createServer } from 'node:https'
import { connect, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { egressProxy } from './egress-proxy.ts'

/** A key that is used here only, and its certificate for `forge.test`, valid to the year 2120. */
const key = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgHp4s6cmKlbdol9Zg
GB2sbySviIIG8wE4TFEbWgNM+s+hRANCAARohXr1o+lOyWfMk1MoITFtQu71r7ml
3pKpkcxeplSjnHZH/eyT0tUHZ640ZdnlrnmAKcZQgydF/wSMdguNUACM
-----END PRIVATE KEY-----`
const certificate = `-----BEGIN CERTIFICATE-----
MIIBZTCCAQqgAwIBAgIBATAKBggqhkjOPQQDAjAVMRMwEQYDVQQDDApmb3JnZS50
ZXN0MCAXDTIwMDEwMTAwMDAwMFoYDzIxMjAwMTAxMDAwMDAwWjAVMRMwEQYDVQQD
DApmb3JnZS50ZXN0MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEaIV69aPpTsln
zJNTKCExbULu9a+5pd6SqZHMXqZUo5x2R/3sk9LVB2euNGXZ5a55gCnGUIMnRf8E
jHYLjVAAjKNJMEcwFQYDVR0RBA4wDIIKZm9yZ2UudGVzdDAPBgNVHRMBAf8EBTAD
AQH/MB0GA1UdDgQWBBSYCI2Kws3pEf54marrY6fkldOYzzAKBggqhkjOPQQDAgNJ
ADBGAiEA/eb1G15KqmHP4kVvI+RPi667OQ6ssNXZDvfK4IJAibUCIQCCbch2eoq+
xo6Yg+GFgcT4LBBK5vprq/nXpm60xyQk7Q==
-----END CERTIFICATE-----`

/** A plain request through a proxy whose gate upgrades it; every name leads to one upstream that speaks TLS only. */
async function ask(url: string, ca?: string) {
  const folder = await mkdtemp(join(tmpdir(), 'egress-'))
  const upstream = createServer({ key, cert: certificate }, ({ headers, url: path }, answer) =>
    answer.end(`${headers.authorization} ${headers.host} ${path}`),
  )
  await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve))
  const dialled: string[] = []
  const dial = async (host: string, port: number) => {
    dialled.push(`${host}:${port}`)
    return connect((upstream.address() as AddressInfo).port, '127.0.0.1')
  }
  const gate = {
    decide: async () => ({ allow: true, scheme: 'https', headers: { Authorization: 'Bearer real' } }) as const,
  }
  const proxy = egressProxy({ gate, dial, log: () => undefined, ...(ca !== undefined && { ca }) })
  const socketPath = join(folder, 's')
  await proxy.listen(() => 'sandbox-1', socketPath)
  try {
    const answer = await new Promise<IncomingMessage>((resolve, reject) =>
      request({ socketPath, path: url, setHost: false }).on('response', resolve).on('error', reject).end(),
    )
    let said = ''
    for await (const part of answer) said += String(part)
    return { status: answer.statusCode, said, dialled }
  } finally {
    await proxy.close()
    upstream.closeAllConnections()
    upstream.close()
    await rm(folder, { recursive: true })
  }
}

test('a plain request that the gate upgrades goes out encrypted, to the port of https, with the token', async () => {
  const { status, said, dialled } = await ask(
    'http://forge.test/ada/app.git/info/refs?service=git-upload-pack',
    certificate,
  )
  assert.deepEqual([status, dialled], [200, ['forge.test:443']])
  assert.equal(said, 'Bearer real forge.test /ada/app.git/info/refs?service=git-upload-pack')
})

test('a port that was asked for by number stays when a request is upgraded', async () => {
  assert.deepEqual((await ask('http://forge.test:8443/x', certificate)).dialled, ['forge.test:8443'])
})

test('an upstream whose certificate is not trusted gets no request and no token', async () => {
  const { status, said } = await ask('http://forge.test/x')
  assert.equal(status, 502)
  assert.match(said, /self-signed certificate/)
})

test('an upstream whose certificate is for another host gets no request and no token', async () => {
  const { status, said } = await ask('http://other.test/x', certificate)
  assert.equal(status, 502)
  assert.match(said, /other\.test/)
})
