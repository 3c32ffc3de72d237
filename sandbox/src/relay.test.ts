import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, rm, symlink } from 'node:fs/promises'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Command, Process } from './driver.ts'
import { connectOver } from './relay.ts'

const places = ['/usr/bin', '/bin']
const whereIs = (name: string) => places.map((place) => join(place, name)).find((path) => existsSync(path))

/** Programs of this machine, of which only these can be found. */
async function spawnerWith(programs: readonly string[]) {
  const folder = await mkdtemp(join(tmpdir(), 'relay-'))
  for (const name of programs) await symlink(whereIs(name) ?? '', join(folder, name))
  const start = ({ argv: [program, ...args], env }: Command): Process => {
    const child = spawn(program, args, { env: { ...env, PATH: folder }, stdio: ['pipe', 'pipe', 'pipe'] })
    const ended = new Promise<{ code: number | null; signal: null }>((resolve) =>
      child.on('close', (code) => resolve({ code, signal: null })),
    )
    child.stdin.on('error', () => undefined)
    const kill = async () => void child.kill('SIGKILL')
    return { ...child, ended, kill, interruptChildren: async () => undefined, resize: () => undefined }
  }
  return { start, [Symbol.asyncDispose]: () => rm(folder, { recursive: true }) }
}

async function echo(host: string) {
  const server = createServer(
    { allowHalfOpen: true },
    (socket) => void socket.on('error', () => undefined).pipe(socket),
  )
  await new Promise<void>((resolve) => server.listen(0, host, resolve))
  const { port } = server.address() as AddressInfo
  return { port, [Symbol.dispose]: () => void server.close() }
}

for (const name of ['socat', 'python3', 'perl', 'nc'])
  test(
    `bytes go to a port and back over ${name}, and a closed port is refused`,
    { skip: whereIs(name) === undefined && `there is no ${name}` },
    async () => {
      await using spawner = await spawnerWith([name, 'grep'])
      using server = await echo('127.0.0.1')
      const stream = await connectOver(spawner.start, server.port)
      const data = Buffer.alloc(300_000, 'parley \u00e4\n')
      stream.end(data)
      const parts: Buffer[] = []
      for await (const part of stream) parts.push(part as Buffer)
      assert.ok(Buffer.concat(parts).equals(data))
      await assert.rejects(connectOver(spawner.start, 1), /port 1 /)
    },
  )

test('what listens on the other loopback address alone is reached too', async (t) => {
  await using spawner = await spawnerWith(['socat', 'grep'])
  let server
  try {
    server = await echo('::1')
  } catch {
    return t.skip('there is no ::1')
  }
  const stream = await connectOver(spawner.start, server.port)
  stream.write('hello')
  assert.equal(String(await new Promise((resolve) => stream.once('data', resolve))), 'hello')
  stream.destroy()
  server[Symbol.dispose]()
})

test('an image that has none of the programs says so', async () => {
  await using spawner = await spawnerWith(['grep'])
  await assert.rejects(connectOver(spawner.start, 8011), /none of socat, python3, perl, nc/)
})
