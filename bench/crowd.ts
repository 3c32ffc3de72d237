import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { api } from '@parley/contract/api'
import { openScriptedLlm } from '../tests/tools/scripted-llm.ts'
import { p50, p95, type Row } from './measure.ts'
import { finished, openProgram, type Program, start, useScripted } from './program.ts'

/*
 * Many conversations at work at once in one process, each with a model that speaks at the pace of a real one. They share one
 * sandbox and think rather than run commands: what is measured is the loop.
 */

const paces = 20
/** All are let go in one moment, as never happens at work: so long it shows. */
const burstMs = 6_000
/** Answers of different lengths, so that not all end at the same moments; each differs, so that nothing is taken for a circle. */
const script = (steps: number, hold: object) => ({
  tokensPerSecond: 30,
  scripts: Object.fromEntries(
    Array.from({ length: paces }, (_, pace) => [
      `pace${pace}`,
      {
        tokensPerSecond: 30,
        turns: [
          { ...hold, tools: [{ name: 'think', args: { thought: 'Ready {{conv}}.' } }] },
          { repeat: steps, tools: [{ name: 'think', args: { thought: `{{i}}: {{pad:${100 + pace * 13}}}` } }] },
          { text: 'All done.' },
        ],
      },
    ]),
  ),
})

export async function crowdRows(dir: string, conversations: number, steps: number): Promise<Row[]> {
  const limits = join(dir, 'crowd.yaml')
  const many = '{ requests: 1000000 }'
  writeFileSync(
    limits,
    `sandboxes: { conversations_per_sandbox: ${conversations + 1} }\nrates: { start: ${many}, read: ${many}, write: ${many} }\n`,
  )
  await using llm = await openScriptedLlm(script(1, {}))
  await using program = await openProgram({ privateHosts: [new URL(llm.url).host], limits })
  await useScripted(program, llm.url)
  await program.call(api.settings.update, { body: { sandbox_grouping_strategy: 'ADD_TO_ANY' } })
  // The sandbox that all of them share, and what a first conversation loads.
  await finished(program, (await start(program, 'Warm up. [[conv:warm]] [[script:pace0]]')).id)
  await llm.setScript(script(steps, { hold: 'go' }))
  await llm.clear()
  await sleep(2_000)
  const before = program.memory()
  await begin(program, conversations)
  const released = Date.now()
  await llm.release('go')
  const all = over(program, conversations + 1)
  await sleep(5_000)
  const each = (program.memory() - before) / conversations
  await all
  const { requests } = await llm.log()
  const gapsIn = (from: number, to: number) =>
    requests.flatMap((one) => (one.recvStart < from || one.recvStart >= to ? [] : (one.gapMs ?? [])))
  const [burst, gaps] = [gapsIn(released, released + burstMs), gapsIn(released + burstMs, Infinity)]
  const what = `${conversations} conversations at once, 30 tokens a second`
  const row = { floor: null, floorIs: '' }
  const step = { ...row, what: `overhead of a step, ${what}`, unit: 'ms' }
  return [
    { ...step, p50: p50(gaps), p95: p95(gaps), goal: 'p95 < 150' },
    { ...step, what: `${step.what}, let go in one moment`, p50: p50(burst), p95: p95(burst), goal: '' },
    { ...row, what: `memory of each of ${what}`, unit: 'MiB', p50: each, p95: null, goal: '< 4' },
  ]
}

/** All wait at their first answer. */
async function begin(program: Program, conversations: number): Promise<void> {
  for (let from = 0; from < conversations; from += 20) {
    const some = Array.from({ length: Math.min(20, conversations - from) }, (_, at) => from + at)
    await Promise.all(some.map((at) => start(program, `Think. [[conv:crowd-${at}]] [[script:pace${at % paces}]]`)))
  }
  await sleep(1_500)
}

/** Nobody watches them, as nobody watches three hundred conversations. */
async function over({ call }: Program, conversations: number): Promise<void> {
  const query = { execution_status__eq: 'finished' as const }
  while ((await call(api.conversations.count, { query })) < conversations) await sleep(500)
}
