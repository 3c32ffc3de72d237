import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Driver } from '@parley/sandbox/driver'
import { readConfig } from '../config.ts'
import { openDriver } from './driver.ts'

async function withDriver<T>(unisolated: boolean, work: (driver: Driver) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'dr-'))
  const place = {
    stateDir: join(folder, 'state'),
    runtimeDir: join(folder, 'run'),
    egress: {
      gate: { decide: () => Promise.reject(new Error('nobody asks')) },
      dial: () => Promise.reject(new Error('nobody dials')),
    },
    log: () => {},
  }
  const driver = await openDriver({ ...readConfig({}), unisolated }, place)
  try {
    return await work(driver)
  } finally {
    await driver[Symbol.asyncDispose]()
    await rm(folder, { recursive: true })
  }
}

/** Cut at once: no sandbox starts, which is as bad as a finding can be. */
const findings = (unisolated: boolean) =>
  withDriver(unisolated, (driver) => driver.doctor(AbortSignal.abort(new Error('cut'))))

test('with walls that work nothing is different where isolation is not demanded', () =>
  withDriver(true, async ({ workspaceOf, warning }) => {
    assert.deepEqual([workspaceOf('any'), warning], ['/workspace', null])
  }))

test('a wall that does not stand stops the server, unless isolation is not demanded, which is said first', async () => {
  assert.ok((await findings(false)).some(({ ok, fatal }) => !ok && fatal))
  const [first, ...others] = await findings(true)
  assert.match(first?.detail ?? '', /DANGER/)
  assert.ok(others.some(({ ok }) => !ok))
  assert.ok(others.every(({ fatal }) => !fatal))
})
