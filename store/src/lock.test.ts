import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { lockDataDir, lockFile } from './lock.ts'

function directory(t: TestContext): string {
  const dir = mkdtempSync(join(tmpdir(), 'parley lock '))
  t.after(() => rmSync(dir, { recursive: true, force: true }))
  return dir
}

test('a second server is refused and told who has the data directory', async (t) => {
  const dir = directory(t)
  const lock = await lockDataDir(dir)
  await assert.rejects(lockDataDir(dir), new RegExp(`in use by another Parley \\(pid ${process.pid}\\)`))
  lock.release()
  lock.release()
  ;(await lockDataDir(dir)).release()
})

test('a server that was killed leaves no lock behind', async (t) => {
  const dir = directory(t)
  const fixture = fileURLToPath(new URL('lock.fixture.ts', import.meta.url))
  const child = spawn(process.execPath, [fixture, dir], { stdio: ['ignore', 'pipe', 'inherit'] })
  await once(child.stdout, 'data')
  await assert.rejects(lockDataDir(dir), new RegExp(`pid ${child.pid}\\)`))
  child.kill('SIGKILL')
  await once(child, 'exit')
  ;(await lockDataDir(dir)).release()
})

test('a shared lock admits others who share, and keeps out who wants it alone until all are gone', async (t) => {
  const path = join(directory(t), 'file')
  const [one, two] = [await lockFile(path, { shared: true }), await lockFile(path, { shared: true })]
  assert.ok(one && two)
  assert.equal(await lockFile(path), undefined)
  one.release()
  assert.equal(await lockFile(path, { waitMs: 20 }), undefined)
  const waiting = lockFile(path, { waitMs: 20_000 })
  two.release()
  assert.ok(await waiting)
})
