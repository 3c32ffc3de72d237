import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { openPrivateFolder, UnsafeFolder } from './data-dir.ts'
import { openRuntimeDir } from './runtime-dir.ts'
import { openSecretKey, SecretKeyError } from './secret-key.ts'

const mode = (path: string) => statSync(path).mode & 0o777

test('a new data folder is closed to others, whatever the umask', (t) => {
  const path = join(folder(t), 'a', 'data')
  const before = process.umask(0)
  t.after(() => process.umask(before))
  openPrivateFolder(path)
  assert.equal(mode(path), 0o700)
})

test('an empty data folder that is open to others is closed', (t) => {
  const path = folder(t)
  chmodSync(path, 0o777)
  openPrivateFolder(path)
  assert.equal(mode(path), 0o700)
})

test('a folder with things in it that is open to others is refused and left as it was', (t) => {
  const path = folder(t)
  writeFileSync(join(path, 'somebody'), '')
  chmodSync(path, 0o755)
  assert.throws(() => openPrivateFolder(path), { name: UnsafeFolder.name, message: /mode 0755.*chmod 700/ })
  assert.equal(mode(path), 0o755)
})

test('a file where the data folder should be is refused', (t) => {
  const path = join(folder(t), 'data')
  writeFileSync(path, '')
  assert.throws(() => openPrivateFolder(path), UnsafeFolder)
})

test('the secret key is made once, readable for its owner only, and kept', (t) => {
  const path = folder(t)
  const key = openSecretKey(path, null)
  assert.equal(key.length, 32)
  assert.deepEqual(openSecretKey(path, null), key)
  assert.equal(mode(join(path, 'secret.key')), 0o600)
})

test('a secret key file that others can read is closed', (t) => {
  const path = folder(t)
  openSecretKey(path, null)
  chmodSync(join(path, 'secret.key'), 0o644)
  openSecretKey(path, null)
  assert.equal(mode(join(path, 'secret.key')), 0o600)
})

test('a damaged secret key file stops the start and is never replaced', (t) => {
  const path = folder(t)
  writeFileSync(join(path, 'secret.key'), 'half a k')
  assert.throws(() => openSecretKey(path, null), { name: SecretKeyError.name, message: /secret\.key.*backup/ })
  assert.equal(readFileSync(join(path, 'secret.key'), 'utf8'), 'half a k')
})

test('a key that was given leaves no key in the data folder', (t) => {
  const path = folder(t)
  assert.deepEqual(openSecretKey(path, Buffer.alloc(32, 1)), Buffer.alloc(32, 1))
  assert.throws(() => statSync(join(path, 'secret.key')), { code: 'ENOENT' })
})

test('the folder for sockets is short, closed to others, and the same for the same data folder', (t) => {
  const path = join(folder(t), 'd'.repeat(120))
  mkdirSync(path)
  const sockets = openRuntimeDir(path, null)
  t.after(() => rmSync(sockets, { recursive: true }))
  assert.ok(Buffer.byteLength(sockets) <= 47)
  assert.equal(mode(sockets), 0o700)
  assert.equal(openRuntimeDir(path, '/tmp/' + 'x'.repeat(60)), sockets)
})

test('a link in the place of the folder for sockets is refused', (t) => {
  const path = folder(t)
  const sockets = openRuntimeDir(path, null)
  rmSync(sockets, { recursive: true })
  symlinkSync(folder(t), sockets)
  t.after(() => rmSync(sockets))
  assert.throws(() => openRuntimeDir(path, null), UnsafeFolder)
})

function folder(t: { after(clean: () => void): void }): string {
  const path = mkdtempSync(join(tmpdir(), 'parley-data-'))
  t.after(() => rmSync(path, { recursive: true, force: true }))
  return path
}
