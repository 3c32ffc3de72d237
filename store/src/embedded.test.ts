import assert from 'node:assert/strict'
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, statfsSync, statSync, writeFileSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { Problem } from '@parley/contract/problems'
import { sql } from 'kysely'
import { systemClock } from './clock.ts'
import { openDatabase } from './database.ts'
import { isPostgres } from './embedded-cluster.ts'
import { startPostgres, stopPostgres } from './embedded.ts'

const root = process.getuid?.() === 0
const fixture = fileURLToPath(new URL('embedded.fixture.ts', import.meta.url))

/** A data directory and a socket directory, removed at the end together with a server that was left running. */
function place(t: TestContext) {
  const base = mkdtempSync(join(tmpdir(), 'parley-pg-'))
  const options = { dataDir: join(base, 'data'), runtimeDir: join(base, 'run'), log: () => {} }
  t.after(async () => {
    await stopPostgres(options.dataDir).catch(() => {}) // another version's is not running
    spawnSync('umount', [options.dataDir]) // where it is a disk of its own
    rmSync(base, { recursive: true, force: true })
  })
  return options
}

async function ask(
  connection: Parameters<typeof openDatabase>[0]['connection'],
  statement: string,
): Promise<unknown[]> {
  const database = openDatabase({ connection, max: 1, applicationName: 'test' })
  return database.rows(sql.raw(statement)).finally(() => database.close())
}

function kill(pid: number | undefined): void {
  assert.ok(pid)
  process.kill(pid, 'SIGKILL')
}

async function until(claim: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = performance.now() + 20_000
  while (!(await claim())) {
    assert.ok(performance.now() < deadline, 'it did not happen within 20 s')
    await systemClock.sleep(20)
  }
}

test('the database keeps its data over a stop, is on a socket only, and never trades a commit for speed', async (t) => {
  const options = place(t)
  const first = await startPostgres(options)
  await ask(first.connection, 'create table kept as select 7 as n')
  const [settings] = await ask(
    first.connection,
    `select current_setting('fsync') as fsync,
    current_setting('full_page_writes') as pages, current_setting('synchronous_commit') as commit,
    current_setting('listen_addresses') as tcp, current_setting('server_encoding') as encoding`,
  )
  assert.deepEqual(settings, { fsync: 'on', pages: 'on', commit: 'on', tcp: '', encoding: 'UTF8' })
  assert.equal(statSync(options.runtimeDir).mode & 0o777, 0o700)
  assert.equal(statSync(join(options.dataDir, 'postgres.password')).mode & 0o777, 0o600)
  const { pid } = first
  assert.ok(pid)
  await first.stop()
  assert.equal(isPostgres(pid), false)
  assert.equal(first.pid, undefined)
  const second = await startPostgres(options)
  assert.deepEqual(await ask(second.connection, 'select n from kept'), [{ n: 7 }])
  await assert.rejects(ask({ ...second.connection, password: 'guess' }, 'select 1'), { code: '28P01' })
  await second.stop()
})

test('the data directory may be below a directory that is closed to others and have a space in its path', async (t) => {
  const parent = mkdtempSync(join(root ? homedir() : tmpdir(), 'closed to others '))
  chmodSync(parent, 0o700)
  t.after(async () => {
    await stopPostgres(join(parent, 'my data'))
    rmSync(parent, { recursive: true, force: true })
  })
  const options = { dataDir: join(parent, 'my data'), runtimeDir: place(t).runtimeDir, log: () => {} }
  const server = await startPostgres(options)
  assert.deepEqual(await ask(server.connection, 'select 1 as n'), [{ n: 1 }])
  const owner = statSync(`/proc/${server.pid}`).uid
  assert.notEqual(owner, 0)
  await server.stop()
})

test('a user who is not root runs it as themselves', async (t) => {
  const options = place(t)
  const base = join(options.dataDir, '..')
  const as = [
    '--reuid=nobody',
    '--regid=nogroup',
    '--clear-groups',
    process.execPath,
    fixture,
    options.dataDir,
    options.runtimeDir,
    'stop',
  ]
  if (!root) return t.skip('the tests are not run as root')
  if (spawnSync('setpriv', [...as.slice(0, 3), 'test', '-r', fixture]).status !== 0)
    return t.skip('others cannot read this checkout')
  execFileSync('chown', ['-R', 'nobody', base])
  assert.match(execFileSync('setpriv', as, { encoding: 'utf8' }), /^\d+\n$/)
  assert.equal(statSync(join(options.dataDir, 'postgres')).uid, statSync(base).uid)
})

test('a database whose server program was killed is adopted, not started twice', async (t) => {
  const options = place(t)
  const child = spawn(process.execPath, [fixture, options.dataDir, options.runtimeDir], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [said] = (await once(child.stdout, 'data')) as [Buffer]
  child.kill('SIGKILL')
  await once(child, 'exit')
  const server = await startPostgres(options)
  assert.equal(server.pid, Number(said.toString()))
  await ask(server.connection, 'select 1')
  await server.stop()
})

test('a database that is killed comes back by itself with everything that was committed', async (t) => {
  const server = await startPostgres(place(t))
  const database = openDatabase({ connection: server.connection, max: 2, applicationName: 'test' })
  await database.rows(sql`create table kept (n int)`)
  for (const n of [1, 2, 3]) {
    await database.rows(sql`insert into kept values (${n})`)
    const { pid } = server
    kill(pid)
    await until(() => server.pid !== undefined && server.pid !== pid)
    await until(() =>
      database.ping().then(
        () => true,
        () => false,
      ),
    )
  }
  assert.deepEqual(await database.rows(sql`select n from kept order by n`), [{ n: 1 }, { n: 2 }, { n: 3 }])
  await database.close()
  await server.stop()
})

test('what another version of PostgreSQL made is refused in so many words', async (t) => {
  const options = place(t)
  mkdirSync(join(options.dataDir, 'postgres'), { recursive: true })
  writeFileSync(join(options.dataDir, 'postgres', 'PG_VERSION'), '16\n')
  await assert.rejects(startPostgres(options), /was made by PostgreSQL 16; this Parley has 18/)
})

test('a database that cannot start says why in one line', async (t) => {
  const options = place(t)
  await (await startPostgres(options)).stop()
  await assert.rejects(startPostgres({ ...options, settings: ['shared_buffers=nonsense'] }), (error: Error) => {
    assert.match(error.message, /cannot start: .*invalid value for parameter "shared_buffers"/)
    assert.ok(!error.message.includes('\n'))
    return true
  })
})

test('a socket path that the system cannot hold is refused before anything is made', async () => {
  const runtimeDir = `/tmp/${'x'.repeat(100)}`
  await assert.rejects(startPostgres({ dataDir: '/nonexistent/x', runtimeDir, log: () => {} }), /too long for a socket/)
})

/** A disk of its own for the data directory, unmounted by `place`; false where none can be made. */
function smallDisk({ dataDir }: { dataDir: string }, size: string): boolean {
  mkdirSync(dataDir)
  return spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', dataDir]).status === 0
}

test('on a full disk writes are refused as such, reads go on, and all is well when there is room again', async (t) => {
  const options = place(t)
  if (!root || !smallDisk(options, '400m')) return t.skip('no small disk can be made here')
  const server = await startPostgres(options)
  const database = openDatabase({ connection: server.connection, max: 2, applicationName: 'test' })
  await database.rows(sql`create table kept (n int)`)
  await database.rows(sql`insert into kept values (1)`)
  const filler = join(options.dataDir, 'filler')
  const { bavail, bsize } = statfsSync(options.dataDir)
  execFileSync('fallocate', ['-l', String(bavail * bsize - 25_000_000), filler])
  const write = () =>
    database.rows(sql`insert into kept values (2)`).then(
      () => 'written',
      (error: Problem) => error.code,
    )
  await until(async () => (await write()) === 'storage_full')
  const [{ n } = { n: 0 }] = await database.rows<{ n: number }>(sql`select count(*) as n from kept`)
  rmSync(filler)
  await until(async () => (await write()) === 'written')
  assert.deepEqual(await database.rows(sql`select count(*) as n from kept`), [{ n: n + 1 }])
  await database.close()
  await server.stop()
})

test('a database that finds no room to be made says so', async (t) => {
  const options = place(t)
  if (!root || !smallDisk(options, '12m')) return t.skip('no small disk can be made here')
  await assert.rejects(startPostgres(options), /the disk of .* is full/)
})
