import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { limit, specOf } from '../conformance-sentence.ts'
import { conformance } from '../conformance.ts'
import { openLoopback } from './loopback.ts'
import { driverIn, openProcess } from './testing.fixture.ts'

conformance('process without walls', () => openProcess({ unwalled: [] }))

test('a sandbox that was made behind walls is not opened without, nor the other way round, and both keep their files', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'parley-switch-'))
  try {
    for (const [first, second] of [
      [{}, { unwalled: [] }],
      [{ unwalled: [] }, {}],
    ]) {
      const spec = specOf()
      for (const [how, opens] of [
        [first, true],
        [second, false],
        [first, true],
      ] as const) {
        await using driver = driverIn(folder, how)
        if (opens) {
          await driver.start(spec, limit())
          const { stdout } = await (await driver.hands(spec.id)).run({ script: 'echo more >>~/kept; cat ~/kept' })
          assert.match(String(stdout), /^(more\n)+$/)
        } else {
          const seen = await driver.look(spec.id)
          assert.deepEqual([seen.state, /elsewhere for its programs/.test(seen.detail ?? '')], ['error', true])
          await assert.rejects(driver.start(spec, limit()), /elsewhere for its programs/)
        }
      }
    }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
})

const asRoot = process.getuid?.() === 0 ? false : 'only root can be another user'

test('the way out of a sandbox without walls is not that of other users of the machine', { skip: asRoot }, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'parley-way-'))
  const path = join(folder, 'egress.sock')
  const server = createServer((_, answer) => answer.end('through'))
  await new Promise<void>((resolve) => server.listen(path, resolve))
  const way = await openLoopback(path)
  const ask = async () => {
    const socket = connect(way.port, '127.0.0.1')
    socket.write('GET / HTTP/1.0\r\n\r\n')
    return text(socket)
  }
  try {
    assert.match(await ask(), /through$/)
    process.seteuid?.(65_534)
    const refused = await ask().finally(() => process.seteuid?.(0))
    assert.match(refused, /^HTTP\/1\.1 403 /)
  } finally {
    await way.close()
    server.close()
    await rm(folder, { recursive: true, force: true })
  }
})
