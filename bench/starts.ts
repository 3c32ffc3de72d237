import { setTimeout as sleep } from 'node:timers/promises'
import { api } from '@parley/contract/api'
import { p50, p95, quantile, type Row } from './measure.ts'
import type { Program } from './program.ts'

/** Rounds after which the server knows its way: the first of them compile what they run. */
const warmUp = 4

/** The answer of the start endpoint while so many starts are asked for at the same moment, several rounds of it. */
export async function startRows(program: Program, atOnce: number, rounds: number): Promise<Row[]> {
  const together = (ask: () => Promise<unknown>) => Promise.all(Array.from({ length: atOnce }, () => timeOf(ask)))
  const [answered, floor]: [number[], number[]] = [[], []]
  for (let round = -warmUp; round < rounds; round += 1) {
    const alive = await together(async () => (await fetch(`${program.url}/alive`)).text())
    const times = await together(() => program.call(api.conversations.start, { body: {} }))
    await cleared(program)
    if (round < 0) continue
    floor.push(...alive)
    answered.push(...times)
  }
  const row = { what: `answer of a start, ${atOnce} at once`, unit: 'ms', floorIs: `${atOnce} × raw HTTP` }
  const most = { p50: quantile(answered, 0.99), p95: null, floor: quantile(floor, 0.99), goal: '< 50' }
  return [
    { ...row, p50: p50(answered), p95: p95(answered), floor: p50(floor), goal: '' },
    { ...row, what: `${row.what}, p99`, ...most },
  ]
}

async function timeOf(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now()
  await work()
  return performance.now() - began
}

/** All starts are over and what they made is gone, so that the next round finds what the first one found. */
async function cleared({ call }: Program): Promise<void> {
  for (;;) {
    const tasks = await call(api.startTasks.search, { query: { limit: 100, sort_order: 'CREATED_AT_DESC' } })
    if (tasks.items.every(({ status }) => status === 'READY' || status === 'ERROR')) break
    await sleep(50)
  }
  const { items } = await call(api.conversations.search, { query: { limit: 100 } })
  await Promise.all(items.map(({ id }) => call(api.conversations.delete, { params: { id } })))
  // Their files go after the answer.
  while ((await call(api.sandboxes.search, { query: { limit: 100 } })).items.length > 0) await sleep(50)
  await sleep(1_000)
}
