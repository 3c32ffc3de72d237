import { setTimeout as sleep } from 'node:timers/promises'
import { api } from '@parley/contract/api'
import { p50, p95, quantile, type Row } from './measure.ts'
import type { Program } from './program.ts'

/** The answer of the start endpoint while so many starts are asked for at the same moment, several rounds of it. */
export async function startRows(program: Program, atOnce: number, rounds: number): Promise<Row[]> {
  const answered: number[] = []
  for (let round = -1; round < rounds; round += 1) {
    const times = await Promise.all(Array.from({ length: atOnce }, () => oneStart(program)))
    await cleared(program)
    // The first round warms connections up.
    if (round >= 0) answered.push(...times)
  }
  const row = { what: `answer of a start, ${atOnce} at once`, unit: 'ms', floor: null, floorIs: '' }
  return [
    { ...row, p50: p50(answered), p95: p95(answered), goal: '' },
    { ...row, what: `${row.what}, p99`, p50: quantile(answered, 0.99), p95: null, goal: '< 50' },
  ]
}

async function oneStart({ call }: Program): Promise<number> {
  const began = performance.now()
  await call(api.conversations.start, { body: {} })
  return performance.now() - began
}

/** All starts are over and their conversations are gone, so that the next round finds what the first one found. */
async function cleared({ call }: Program): Promise<void> {
  for (;;) {
    const tasks = await call(api.startTasks.search, { query: { limit: 100, sort_order: 'CREATED_AT_DESC' } })
    if (tasks.items.every(({ status }) => status === 'READY' || status === 'ERROR')) break
    await sleep(50)
  }
  const { items } = await call(api.conversations.search, { query: { limit: 100 } })
  await Promise.all(items.map(({ id }) => call(api.conversations.delete, { params: { id } })))
}
