import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { missingEntries } from './complete-lockfile.ts'

test('npm ci takes the lockfile: it has every package of every system', () => {
  const lockfile = JSON.parse(readFileSync(new URL('../package-lock.json', import.meta.url), 'utf8'))
  assert.deepEqual(missingEntries(lockfile.packages), {})
})

test('a build for another system that is left out is found, one that is there at any depth is not', () => {
  const packages = {
    '': { optionalDependencies: { 'tool-win32-x64': '1.0.0' } },
    'node_modules/a': { dev: true, optionalDependencies: { '@a/darwin-arm64': '2.0.0', 'b-linux-x64': '1.0.0' } },
    'node_modules/a/node_modules/b-linux-x64': {},
    'node_modules/tool-win32-x64': {},
  }
  assert.deepEqual(missingEntries(packages), {
    'node_modules/@a/darwin-arm64': { version: '2.0.0', cpu: ['arm64'], os: ['darwin'], dev: true, optional: true },
  })
})
