import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { oneByOne, watchDisk } from './disk.ts'

test('a disk that cannot be asked for a while is watched on, and told of when it is full then', async () => {
  const told: string[] = []
  let asked = 0
  const gone = () => Promise.reject(new Error('what counts has ended'))
  const watch = watchDisk({
    disk: {
      inUse: async () => ((asked += 1) < 3 ? gone() : 3 * 2 ** 20),
      free: () => (asked < 2 ? gone() : Promise.resolve(2 ** 40)),
    },
    limit: 2 ** 20,
    onFull: (reason) => told.push(reason),
    inTurn: oneByOne(),
    lookMs: 5,
  })
  await sleep(200)
  watch.close()
  assert.ok(asked >= 3, `asked ${asked} times`)
  assert.equal(watch.full(), 'disk limit of 1 MiB reached: 3 MiB in use')
})
