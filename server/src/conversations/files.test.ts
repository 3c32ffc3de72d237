import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { after, before, test } from 'node:test'
import type { Driver, Hands } from '@parley/sandbox/driver'
import { processDriver } from '@parley/sandbox/process/driver'
import type { CallRequest } from '@parley/wire/serve'
import { defaultLimits } from '../limits.ts'
import { largestText, workspaceFiles } from './files.ts'
import type { Whole } from './store.ts'

/* One real sandbox for all tests of the file; each works in a directory of its own. */

let dir: string
let driver: Driver
let hands: Hands
const id = randomUUID()
const signal = AbortSignal.timeout(60_000)

before(async () => {
  dir = await mkdtemp(join(tmpdir(), 'pf-'))
  driver = processDriver({
    stateDir: join(dir, 'state'),
    runtimeDir: join(dir, 'run'),
    egress: {
      gate: { decide: async () => ({ allow: false, reason: 'none' }) },
      dial: () => Promise.reject(new Error('no way out')),
    },
    log: () => undefined,
  })
  const limits = defaultLimits().sandbox
  await driver.start({ id, image: null, env: {}, limits }, signal)
  hands = await driver.hands(id)
})

after(async () => {
  await driver.remove(id)
  await driver[Symbol.asyncDispose]()
  await rm(dir, { recursive: true, force: true })
})

const files = workspaceFiles({ sandboxes: { hands: async () => hands } })

async function workspace(): Promise<Whole> {
  const working_dir = `/workspace/project/${randomUUID()}`
  await hands.files.write(`${working_dir}/readme.md`, Buffer.from('# Hello\n'))
  // Of the row only what names the directory matters here.
  return { owner_id: 'ada', sandbox_id: id, git_provider: null, working_dir } as Whole
}

const sh = (script: string, ...args: string[]) => hands.run({ script, args })

function formOf(contents: Record<string, Uint8Array>, field = 'file'): CallRequest {
  const form = new FormData()
  for (const [name, bytes] of Object.entries(contents)) form.append(field, new Blob([new Uint8Array(bytes)]), name)
  const { headers, body } = new Response(form)
  return requestOf(headers.get('content-type') ?? '', Readable.fromWeb(body as never))
}

const requestOf = (type: string, raw: Readable): CallRequest => ({
  id: 'test',
  ip: '127.0.0.1',
  header: (name) => (name === 'content-type' ? type : undefined),
  cookie: () => undefined,
  signal,
  raw,
  idempotencyKey: undefined,
})

test('a folder lists folders first, then by name, with links told apart, and says when there is more', async () => {
  const row = await workspace()
  await sh(
    'cd "$1" && mkdir src a && ln -s readme.md also && touch -d 2026-01-02T03:04:05.000Z src/x.ts',
    row.working_dir,
  )
  const { files: found, truncated } = await files.list(row, { path: '.', limit: 1000 }, signal)
  assert.deepEqual(
    found.map(({ kind, path }) => `${kind} ${path}`),
    ['folder a', 'folder src', 'link also', 'file readme.md'],
  )
  assert.equal(truncated, false)
  const first = await files.list(row, { path: '.', limit: 1 }, signal)
  assert.deepEqual([first.files.length, first.truncated], [1, true])
  const inside = await files.list(row, { path: `${row.working_dir}/src`, limit: 10 }, signal)
  assert.deepEqual(inside.files, [{ path: 'src/x.ts', kind: 'file', size: 0, modified_at: '2026-01-02T03:04:05.000Z' }])
})

test('a text file is read as text; what is binary, too large or absent says so', async () => {
  const row = await workspace()
  assert.equal(await files.read(row, 'readme.md', signal), '# Hello\n')
  await hands.files.write(`${row.working_dir}/.agents_tmp/PLAN.md`, Buffer.from('1. think'))
  assert.equal(await files.read(row, undefined, signal), '1. think')
  await hands.files.write(`${row.working_dir}/bin`, Buffer.from([0xff, 0xfe, 0x80]))
  await assert.rejects(files.read(row, 'bin', signal), { code: 'unsupported_media_type' })
  await sh('head -c "$2" /dev/zero | tr "\\0" a >"$1/big"', row.working_dir, String(largestText + 1))
  await assert.rejects(files.read(row, 'big', signal), { code: 'payload_too_large' })
  await assert.rejects(files.read(row, 'nothing', signal), { code: 'not_found' })
  await assert.rejects(files.read(row, '.', signal), { code: 'not_found' })
})

test('a file of any size is downloaded byte by byte', async () => {
  const row = await workspace()
  await sh('head -c 9000000 /dev/urandom >"$1/some data.bin"', row.working_dir)
  const sum = (await sh('sha256sum <"$1/some data.bin" | cut -c1-64', row.working_dir)).stdout.toString().trim()
  const { body, length, name } = await files.download(row, 'some data.bin', signal)
  const bytes = await buffer(body as Readable)
  const digest = Buffer.from(await crypto.subtle.digest('SHA-256', bytes)).toString('hex')
  assert.deepEqual([length, name, digest], [9_000_000, 'some data.bin', sum])
})

test('nothing outside the working directory is reached, neither by path nor through a link', async () => {
  const row = await workspace()
  const other = await workspace()
  await sh('ln -s /etc "$1/out"; ln -s "$2/readme.md" "$1/theirs"', row.working_dir, other.working_dir)
  const paths = ['/etc/passwd', 'out/passwd', 'theirs', `${other.working_dir}/readme.md`, `${row.working_dir}-not/x`]
  for (const path of paths) {
    await assert.rejects(files.read(row, path, signal), { code: 'not_found' }, path)
    await assert.rejects(files.download(row, path, signal), { code: 'not_found' }, path)
  }
  await assert.rejects(files.list(row, { path: 'out', limit: 10 }, signal), { code: 'not_found' })
  await assert.rejects(files.upload(row, 'out', formOf({ 'a.txt': Buffer.from('x') })), { code: 'not_found' })
  await assert.rejects(files.upload(row, '.', formOf({ theirs: Buffer.from('x') })), { code: 'not_found' })
  assert.equal(await files.read(other, 'readme.md', signal), '# Hello\n')
})

test('files are uploaded into a folder, which is made, and replace what was there', async () => {
  const row = await workspace()
  const data = randomBytes(3_000_000)
  const { files: made } = await files.upload(row, 'data/in', formOf({ 'a b.bin': data, 'empty.txt': Buffer.alloc(0) }))
  assert.deepEqual(
    made.map(({ path, size }) => [path, size]),
    [
      ['data/in/a b.bin', 3_000_000],
      ['data/in/empty.txt', 0],
    ],
  )
  const { body } = await files.download(row, 'data/in/a b.bin', signal)
  assert.ok(data.equals(await buffer(body as Readable)))
  await files.upload(row, '.', formOf({ '../../readme.md': Buffer.from('new') }))
  assert.equal(await files.read(row, 'readme.md', signal), 'new')
})

test('an upload that breaks off, or is in the way of a folder, leaves all as it was', async () => {
  const row = await workspace()
  const head = '--x\r\ncontent-disposition: form-data; name="file"; filename="readme.md"\r\n\r\nhalf'
  const cut = requestOf('multipart/form-data; boundary=x', Readable.from([Buffer.from(head)]))
  await assert.rejects(files.upload(row, '.', cut), { code: 'malformed_request' })
  await sh('mkdir "$1/folder"', row.working_dir)
  await assert.rejects(files.upload(row, '.', formOf({ folder: Buffer.from('x') })), { code: 'not_found' })
  await assert.rejects(files.upload(row, '.', formOf({ x: Buffer.from('x') }, 'upload')), { code: 'validation_error' })
  assert.equal(await files.read(row, 'readme.md', signal), '# Hello\n')
  const left = await files.list(row, { path: '.', limit: 100 }, signal)
  assert.deepEqual(
    left.files.map(({ path }) => path),
    ['folder', 'readme.md'],
  )
})
