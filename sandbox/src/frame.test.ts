import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import { specOf } from './conformance-sentence.ts'
import { driverOf, type Engine } from './frame.ts'

/** Opens a sandbox only when nobody waits for it any more, and notes what is done with it. */
function slowEngine(said: string[], opened: 'in the end' | 'never'): Engine {
  return {
    kind: 'process',
    workspaceOf: () => '/',
    ready: async () => undefined,
    async open(_spec, signal) {
      said.push('open')
      await once(signal, 'abort')
      await new Promise(setImmediate)
      if (opened === 'never') throw signal.reason
      const never = new Promise<string>(() => undefined)
      return {
        hands: {} as never,
        limitsHit: async () => undefined,
        ended: never,
        close: async () => void said.push('close'),
      }
    },
    recall: async () => undefined,
    remember: async () => undefined,
    ids: async () => [],
    forget: async () => undefined,
    doctor: async () => [],
    close: async () => void said.push('end'),
  }
}

test('at the end of the program what is being opened is given up before its engine goes', async () => {
  const said: string[] = []
  const driver = driverOf(() => slowEngine(said, 'never'))
  const starting = assert.rejects(driver.start(specOf(), new AbortController().signal), { name: 'SandboxGone' })
  await new Promise(setImmediate)
  await driver[Symbol.asyncDispose]()
  await starting
  assert.deepEqual(said, ['open', 'end'])
  await assert.rejects(driver.start(specOf(), new AbortController().signal), { name: 'SandboxGone' })
})

test('what was open by then all the same is closed before its engine goes', async () => {
  const said: string[] = []
  const driver = driverOf(() => slowEngine(said, 'in the end'))
  const starting = driver.start(specOf(), new AbortController().signal)
  await new Promise(setImmediate)
  await driver[Symbol.asyncDispose]()
  await starting
  assert.deepEqual(said, ['open', 'close', 'end'])
})
