import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Parley } from '@parley/client/client'
import type { Event } from '@parley/contract/events'
import { begin, eventsOf, ofKind, rest, runs, say, says, scriptOf, until, useModel } from '../tools/house.ts'
import { kill, openProgram, processesIn, type Program } from '../tools/program.ts'
import { openScriptedLlm } from '../tools/scripted-llm.ts'
import { leftOf } from './leaks.ts'

/*
 * `npm run chaos [cycles]`: the real program is started and killed with -9 again and again while conversations work and
 * callers write: by itself, together with its database, or its database or what starts its programs alone, which it must
 * survive. Then: nothing that was acknowledged is lost or there twice, every action has one result, and after a stop nothing
 * is left of it on the machine.
 */

const cycles = Number(process.argv[2] ?? 50)
assert.ok(Number.isInteger(cycles) && cycles > 0, 'the number of cycles is a whole number')
const workers = 4
const writers = 3
const bySecond = Date.now()

/** What is killed, in turns. */
const faults = ['program and database', 'program', 'database', 'program', 'forks'] as const

/** Nothing else on this machine sleeps so long. */
const mark = '0.0487'
const steps = { repeat: 100_000, ...runs(`echo {{i}} >> steps.txt; sleep ${mark}`) }

const folder = await mkdtemp(join(tmpdir(), 'pc-'))
const temporary = join(folder, 'tmp')
const dataDir = join(folder, 'data')
for (const path of [temporary, dataDir]) await mkdir(path, { mode: 0o700 })
let failed = true
try {
  await chaos()
  failed = false
} finally {
  if (failed) process.stdout.write(`What was left is in ${folder}\n`)
  else await rm(folder, { recursive: true, force: true })
}

/** What starts the program's programs, once there is work for it. */
function forkServer(): Promise<number> {
  return until('something starts programs', 10_000, async () => {
    const seen = await processesIn(dataDir)
    return seen.find(({ args }) => args.some((arg) => arg.endsWith('fork-server-main.mjs')))?.pid
  })
}

interface Figures {
  acknowledged: number
  refused: number
  readyMs: number[]
}

async function chaos(): Promise<void> {
  await using llm = await openScriptedLlm(scriptOf({ work: { turns: [steps] }, end: { turns: [{ text: 'Done.' }] } }))
  const env = { PARLEY_PRIVATE_HOSTS: new URL(llm.url).host, TMPDIR: temporary }
  const program = await openProgram({ env, dataDir, keep: true })
  try {
    await program.start()
    const { client } = program
    await useModel(client, llm.url)
    const working = await Promise.all(Array.from({ length: workers }, () => begin(client, says('[[script:work]] Go.'))))
    const noted = await begin(client, {})
    const acknowledged = new Set<string>()
    const figures: Figures = { acknowledged: 0, refused: 0, readyMs: [] }
    for (let cycle = 1; cycle <= cycles; cycle += 1) {
      await oneCycle(program, noted, cycle, acknowledged, figures)
      process.stderr.write(
        `cycle ${cycle}: ${acknowledged.size} writes, last ready in ${figures.readyMs.at(-1)?.toFixed(0)} ms\n`,
      )
    }
    const log = await wholeLogs(client, [...working, noted])
    checkLogs(log, acknowledged)
    const { items } = await client.sandboxes.search({ query: { limit: 100 } })
    assert.equal(await program.end('SIGTERM'), 0, 'the program did not stop well')
    await databaseEnds(program)
    const left = await leftOf(dataDir, temporary, new Set(items.map(({ id }) => id)))
    report(log, acknowledged.size, figures, left)
    assert.deepEqual(
      Object.entries(left).filter(([, found]) => found.length > 0),
      [],
      'something is left',
    )
  } finally {
    await program.end('SIGKILL').catch(() => null)
    for (const { pid } of await processesIn(dataDir)) kill(pid)
  }
}

/** Callers write until the kill; then all that was started is gone within a moment, and the program comes back. */
async function oneCycle(
  program: Program,
  noted: string,
  cycle: number,
  acknowledged: Set<string>,
  figures: Figures,
): Promise<void> {
  let going = true
  const write = async () => {
    for (let n = 0; going; n += 1) {
      const content = [{ type: 'text' as const, text: `note ${cycle}.${n}` }]
      await program.client.events.post({ params: { id: noted }, body: { content, run: false } }).then(
        ({ event_id }) => acknowledged.add(event_id),
        () => (figures.refused += 1),
      )
    }
  }
  const all = Promise.all(Array.from({ length: writers }, write))
  await sleep(200 + Math.random() * 1_300)
  const fault = faults[cycle % faults.length] ?? 'program'
  const database = fault.includes('database') ? await program.postgres() : undefined
  const forks = fault === 'forks' ? await forkServer() : undefined
  if (fault.includes('program')) await program.end('SIGKILL')
  for (const pid of [database, forks]) if (pid !== undefined) kill(pid)
  const before = acknowledged.size
  try {
    if (!fault.includes('program'))
      await until('callers write again', 20_000, () => acknowledged.size > before + 20 || program.hasEnded())
  } finally {
    going = false
  }
  await all
  assert.ok(
    fault.includes('program') || !program.hasEnded(),
    `the program ended with its ${fault}: ${program.said().slice(-3_000)}`,
  )
  if (!fault.includes('program')) return
  await until('all commands have ended with the program', 10_000, async () => {
    const seen = await processesIn(mark)
    return !seen.some(({ args }) => args[0] === 'sleep')
  })
  const began = performance.now()
  await program.start()
  figures.readyMs.push(performance.now() - began)
}

/** Every log to its end, once nothing works any more. */
async function wholeLogs(client: Parley, ids: readonly string[]): Promise<Map<string, Event[]>> {
  const logs = new Map<string, Event[]>()
  for (const id of ids) {
    if ((await client.conversations.get({ params: { id } })).execution_status === 'running') {
      await client.conversations.pause({ params: { id } })
      await rest(client, id, 0, 60_000)
    }
    const seq = await say(client, id, '[[script:end]] Enough.')
    assert.equal((await rest(client, id, seq, 60_000)).status, 'finished')
    logs.set(id, await eventsOf(client, id))
  }
  return logs
}

function checkLogs(logs: ReadonlyMap<string, Event[]>, acknowledged: ReadonlySet<string>): void {
  const stored = new Set<string>()
  for (const [id, events] of logs) {
    assert.deepEqual(
      events.map((event) => event.seq),
      events.map((_, index) => index + 1),
      `the numbers of ${id} have a gap`,
    )
    for (const event of events) {
      assert.ok(!stored.has(event.id), `event ${event.id} is there twice`)
      stored.add(event.id)
    }
    const results = new Map<unknown, number>()
    for (const event of events)
      if (event.kind !== 'ActionEvent' && event.tool_call_id !== undefined)
        results.set(event.tool_call_id, (results.get(event.tool_call_id) ?? 0) + 1)
    for (const { tool_call_id: call } of ofKind(events, 'ActionEvent'))
      assert.equal(results.get(call), 1, `call ${String(call)} of ${id} has ${results.get(call) ?? 0} results`)
  }
  const lost = [...acknowledged].filter((id) => !stored.has(id))
  assert.deepEqual(lost, [], `${lost.length} acknowledged events are lost`)
}

/** The database outlives the program for a moment. */
async function databaseEnds(program: Program): Promise<void> {
  const gone = async () => (await processesIn(dataDir)).length === 0
  await until('the database has ended', 5_000, gone).catch(async () => kill(await program.postgres()))
  await until('the database has ended', 10_000, gone)
}

function report(
  logs: ReadonlyMap<string, Event[]>,
  acknowledged: number,
  { refused, readyMs }: Figures,
  left: object,
): void {
  const events = [...logs.values()].reduce((sum, log) => sum + log.length, 0)
  const sorted = readyMs.toSorted((a, b) => a - b)
  const counts = Object.entries(left).map(([what, found]) => `${what} ${(found as string[]).length}`)
  process.stdout.write(
    `${cycles} kills in ${Math.round((Date.now() - bySecond) / 1_000)} s; ` +
      `ready again in ${sorted[Math.floor(sorted.length / 2)]?.toFixed(0)} ms (p50), ${sorted.at(-1)?.toFixed(0)} ms (max)\n` +
      `${acknowledged} writes acknowledged, ${refused} refused, ${events} events stored, 0 lost\n` +
      `left: ${counts.join(', ')}\n`,
  )
}
