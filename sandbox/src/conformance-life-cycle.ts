import assert from 'node:assert/strict'
import { limit, specOf, text, type Sentence, type WithSandbox } from './conformance-sentence.ts'
import type { Seen } from './driver.ts'

/** How many there are, and how many a little later. */
const ticksTwice = 'a=$(wc -c <ticks); sleep 0.2; echo $a $(wc -c <ticks)'

/** Making, pausing and ending, as every driver promises it. */
export function lifeCycleConformance(sentence: Sentence, withSandbox: WithSandbox): void {
  sentence('starting, looking, pausing and removing can be done twice', async ({ driver, leftovers }) => {
    const spec = specOf()
    assert.equal((await driver.look(spec.id)).state, 'missing')
    await driver.remove(spec.id)
    await Promise.all([driver.start(spec, limit()), driver.start(spec, limit())])
    assert.equal((await driver.look(spec.id)).state, 'running')
    assert.ok((await driver.list()).some(({ id }) => id === spec.id))
    await driver.pause(spec.id)
    await driver.pause(spec.id)
    assert.equal((await driver.look(spec.id)).state, 'paused')
    await assert.rejects(driver.hands(spec.id), { name: 'SandboxGone' })
    await driver.resume(spec, limit())
    await driver.resume(spec, limit())
    assert.equal((await driver.look(spec.id)).state, 'running')
    await driver.remove(spec.id)
    await driver.remove(spec.id)
    assert.equal((await driver.look(spec.id)).state, 'missing')
    assert.deepEqual(await leftovers(spec.id), [])
  })

  sentence('what took another session is gone with its sandbox, also when that is paused', async (opened) => {
    const { driver, leftovers } = opened
    const spec = specOf()
    await driver.start(spec, limit())
    const { jobs } = await driver.hands(spec.id)
    await jobs.start({ command: 'setsid sleep 4999 & sleep 4999', cwd: '/' })
    await driver.pause(spec.id)
    await driver.remove(spec.id)
    assert.deepEqual(await leftovers(spec.id), [])
  })

  sentence('an id that is no UUID is refused', async ({ driver }) => {
    await assert.rejects(driver.start(specOf({ id: '../../etc' }), limit()))
  })

  sentence('a start that is cancelled leaves nothing running', async ({ driver }) => {
    const spec = specOf()
    await assert.rejects(driver.start(spec, AbortSignal.abort(new Error('cancelled'))), /cancelled/)
    assert.notEqual((await driver.look(spec.id)).state, 'running')
    await driver.remove(spec.id)
  })

  sentence('nothing ticks while paused, and it goes on afterwards', ({ driver, pauseEnds }) =>
    withSandbox({}, async (spec, hands) => {
      const ticker = hands.spawn({ argv: ['sh', '-c', '(while :; do echo . >>ticks; sleep 0.01; done) & wait'] })
      while (Number(await text(hands, 'wc -c <"$PARLEY_WORKSPACE/ticks" 2>/dev/null || echo 0')) < 4)
        await new Promise(setImmediate)
      let heard = 0
      const loud = hands.spawn({ argv: ['sh', '-c', 'while :; do echo .; sleep 0.005; done'] })
      loud.stdout.on('data', () => heard++)
      await driver.pause(spec.id)
      await new Promise((resolve) => setTimeout(resolve, 100)) // what was already in the pipe
      const before_ = heard
      await new Promise((resolve) => setTimeout(resolve, 300))
      assert.equal(heard, before_)
      if (pauseEnds) assert.deepEqual([(await ticker.ended).code, (await loud.ended).code], [137, 137])
      await driver.resume(spec, limit())
      if (pauseEnds)
        return void assert.match(
          await text(await driver.hands(spec.id), `cd "$PARLEY_WORKSPACE"; ${ticksTwice}`),
          /^(\d+) \1\n$/,
        )
      await new Promise((resolve) => loud.stdout.once('data', resolve))
      await Promise.all([ticker.kill(0), loud.kill(0)])
    }),
  )

  sentence(
    'what begins one program after the other is paused at any moment, and goes on',
    async ({ driver, pauseEnds }) => {
      if (pauseEnds) return 'nothing of a sandbox but its files outlives a pause'
      return withSandbox({}, async (spec, hands) => {
        const busy = [1, 2, 3].map(() => hands.spawn({ argv: ['sh', '-c', 'while :; do /bin/sh -c "echo ."; done'] }))
        for (let at = 0; at < 20; at++) {
          await driver.pause(spec.id)
          await driver.resume(spec, limit())
          await Promise.all(busy.map(({ stdout }) => new Promise((resolve) => stdout.once('data', resolve))))
        }
        await Promise.all(busy.map((one) => one.kill(0)))
      })
    },
  )

  sentence('files outlive a sandbox that ends, and its end is told', ({ driver, endSandbox }) =>
    withSandbox({}, async (spec, hands) => {
      const kept = `${hands.layout.workspace}/kept`
      await hands.files.write(kept, Buffer.from('1'))
      const told = new Promise<Seen>((resolve) => driver.onEnd((seen) => seen.id === spec.id && resolve(seen)))
      await endSandbox(spec.id)
      assert.equal((await told).state, 'stopped')
      assert.equal((await driver.look(spec.id)).state, 'stopped')
      await assert.rejects(driver.hands(spec.id), { name: 'SandboxGone' })
      await driver.start(spec, limit())
      assert.equal(String(await (await driver.hands(spec.id)).files.read(kept)), '1')
    }),
  )
}
