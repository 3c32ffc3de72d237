import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemClock as clock } from '@parley/store/clock'
import { actTool, calls, memoryLog, says, scriptedModel, testRun, userMessage } from '../testing.ts'
import { run } from './loop.ts'

async function tried(names: [name: string, resource?: string][], toolConcurrency: number) {
  const log = memoryLog(clock)
  log.arrive(userMessage('Go.'))
  const order: string[] = []
  let running = 0
  let most = 0
  const act = actTool(async (name) => {
    order.push(`${name}+`)
    most = Math.max(most, (running += 1))
    await clock.sleep(name.startsWith('slow') ? 30 : 5)
    running -= 1
    order.push(`${name}-`)
    return name
  })
  const list = names.map(([name, resource]): [string, unknown] => [
    'act',
    resource === undefined ? { name } : { name, resource },
  ])
  const model = scriptedModel([calls(...list), says('ok')], { clock })
  const outcome = await run(testRun({ log, model, tools: [act], policy: { toolConcurrency } }))
  const results = log.stored.flatMap((event) =>
    event.kind === 'ObservationEvent' ? [JSON.stringify(event.observation.content)] : [],
  )
  return { outcome, order, most, results: results.map((text) => /"text":"(\w+)"/.exec(text)?.[1]) }
}

test('calls run one after the other unless more are allowed', async () => {
  const { order } = await tried([['slow'], ['b'], ['c']], 1)
  assert.deepEqual(order, ['slow+', 'slow-', 'b+', 'b-', 'c+', 'c-'])
})

test('allowed calls run side by side, no more than allowed, and their results stand in the order of the calls', async () => {
  const { most, results } = await tried([['slow'], ['b'], ['c'], ['d']], 2)
  assert.equal(most, 2)
  assert.deepEqual(results, ['slow', 'b', 'c', 'd'])
})

test('calls that need the same thing wait for each other, first come first served', async () => {
  const { order } = await tried([['slow', 'file'], ['b', 'file'], ['c']], 3)
  assert.ok(order.indexOf('b+') > order.indexOf('slow-'))
  assert.ok(order.indexOf('c+') < order.indexOf('slow-'))
})

test('live output comes soon, then in pieces with their place, and a flood is thinned, not kept', async () => {
  const log = memoryLog(clock)
  log.arrive(userMessage('Go.'))
  const act = actTool(async (_name, { onOutput }) => {
    onOutput('first')
    await clock.sleep(40)
    for (let i = 0; i < 100; i += 1) onOutput('x'.repeat(1000))
    onOutput('last')
    return 'ok'
  })
  await run(
    testRun({ log, model: scriptedModel([calls(['act', { name: 'a' }]), says('ok')], { clock }), tools: [act] }),
  )
  const pieces = log.deltas.flatMap((delta) => (delta.kind === 'ToolOutputDelta' ? [delta] : []))
  assert.deepEqual(pieces[0], { ...pieces[0], offset: 0, content: 'first' })
  const last = pieces.at(-1)
  assert.ok(last?.content.endsWith('last') && last.offset + last.content.length === 100_009)
  assert.ok(pieces.every((piece) => piece.content.length <= 16 * 1024) && pieces.length < 10)
})

test('of a call that is over at once nothing is shown before its result', async () => {
  const log = memoryLog(clock)
  log.arrive(userMessage('Go.'))
  const act = actTool(async (_name, { onOutput }) => {
    onOutput('all of it')
    return 'all of it'
  })
  await run(
    testRun({ log, model: scriptedModel([calls(['act', { name: 'a' }]), says('ok')], { clock }), tools: [act] }),
  )
  assert.deepEqual(
    log.deltas.filter(({ kind }) => kind === 'ToolOutputDelta'),
    [],
  )
})
