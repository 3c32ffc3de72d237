import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { api } from '@parley/contract/api'
import { openScriptedLlm } from '../tests/tools/scripted-llm.ts'
import { checkpointRows } from './checkpoint.ts'
import { crowdRows } from './crowd.ts'
import { dockerRows } from './docker.ts'
import { featureRows } from './features.ts'
import { bashRoundTrip, databaseAppend, fileAppend, httpGet, processRun } from './floors.ts'
import { followRows, readRows, sandboxRows } from './latency.ts'
import { p50, p95, type Row, table, timed } from './measure.ts'
import { openProgram, start, useScripted } from './program.ts'
import { scaleRows } from './scale.ts'
import { startRows } from './starts.ts'
import { job, runSteps } from './steps.ts'

/*
 * `npm run bench`: one table. Every figure is of the program as it ships (key checked, events committed, shell in its sandbox),
 * beside what this machine can do at best in the same run. `npm run bench -- quick` leaves out the long rows.
 */

const quick = process.argv.includes('quick')
const rows: Row[] = []
const add = (
  what: string,
  unit: string,
  values: readonly number[],
  floor: number | null,
  floorIs: string,
  goal: string,
) => {
  rows.push({ what, unit, p50: p50(values), p95: values.length > 4 ? p95(values) : null, floor, floorIs, goal })
  process.stderr.write(`${what}: ${p50(values).toFixed(2)} ${unit}\n`)
}

const dir = mkdtempSync(join(tmpdir(), 'pb-'))
const limits = join(dir, 'limits.yaml')
writeFileSync(
  limits,
  'sandboxes: { per_user: 400 }\nrates: { start: { requests: 100000 }, read: { requests: 1000000 }, write: { requests: 100000 }, control: { requests: 100000 } }\n',
)

const floor = {
  file: await fileAppend(),
  database: await databaseAppend(),
  bash: await bashRoundTrip(),
  http: await httpGet(),
  process: await processRun(),
}
const floorStep = floor.database.one * 2 + floor.bash + floor.http

{
  await using llm = await openScriptedLlm(job(1))
  const options = { dataDir: join(dir, 'data'), privateHosts: [new URL(llm.url).host], limits }
  const first = await openProgram(options)
  const firstMs = first.readyMs
  await first[Symbol.asyncDispose]()
  await using program = await openProgram(options)
  add('first start to ready', 'ms', [firstMs], null, '', '')
  add('second start to ready', 'ms', [program.readyMs], null, '', '≤ 2000')
  await new Promise((resolve) => setTimeout(resolve, 3_000))
  add('idle memory, database included (PSS)', 'MiB', [program.memory()], null, '', '< 250')
  await useScripted(program, llm.url)

  const started: number[] = []
  const asked: number[] = []
  for (let index = 0; index < (quick ? 15 : 53); index += 1) {
    await llm.setScript({ turns: [{ text: 'Done.' }] })
    await llm.clear()
    const began = Date.now()
    const { readyMs, id } = await start(program, `Say done. [[conv:s${index}]]`)
    const request = await firstRequest(llm)
    if (index > 2) {
      started.push(readyMs)
      asked.push(request - began)
    }
    await program.call(api.conversations.delete, { params: { id } })
    // One start at a time, as a person makes them: the sandbox that is kept ready is made in between.
    await new Promise((resolve) => setTimeout(resolve, 300))
  }
  add('start → READY, no repository', 'ms', started, null, '', '< 150')
  add('start → first model request', 'ms', asked, null, '', '≤ 43')

  rows.push(...(await startRows(program, 50, quick ? 2 : 6)))

  const long = quick ? 500 : 2_000
  const { gaps, requests } = await runSteps(program, llm, long, 1)
  const around = (step: number) => gaps.slice(Math.max(1, step - 25), step + 25)
  for (const step of quick ? [50, 475] : [50, 500, 1_975])
    add(
      `overhead of a step, around step ${step}`,
      'ms',
      around(step),
      floorStep,
      '2 commits + bash + HTTP',
      '< 5, flat',
    )
  add(
    'prompt kept as a prefix, worst step',
    'share',
    [Math.min(...requests.slice(1, -1).map((one) => one.prefixShare ?? 1))],
    null,
    '',
    '1.000',
  )

  for (const [conversations, steps] of quick
    ? ([[20, 20]] as const)
    : ([
        [20, 50],
        [50, 40],
        [100, 20],
      ] as const)) {
    const many = await runSteps(program, llm, steps, conversations)
    add(
      `steps a second, ${conversations} conversations at once`,
      '1/s',
      [many.gaps.length / many.seconds],
      null,
      '',
      conversations === 50 ? '≥ 400' : '',
    )
    add(
      `overhead of a step, ${conversations} at once`,
      'ms',
      many.gaps,
      floorStep,
      '2 commits + bash + HTTP',
      conversations === 100 ? 'p95 < 200' : '',
    )
  }
  add('memory after all that (PSS)', 'MiB', [program.memory()], null, '', '')

  const key = { authorization: `Bearer ${program.key}` }
  const { id } = await start(program, 'Say done. [[conv:get]]')
  const get = () =>
    fetch(`${program.url}/api/v1/app-conversations/${id}`, { headers: key }).then((answer) => answer.text())
  add('GET of a conversation', 'ms', await timed(500, get), floor.http, 'raw HTTP', '')
  add(
    'durable append of one message',
    'ms',
    await timed(200, (index) => post(program.url, key, id, index)),
    floor.database.one,
    'one commit',
    '< 20',
  )
  rows.push(...(await followRows(program, llm, floor.database.one)), ...(await readRows(program, id)))
}
rows.push(...(await featureRows(quick ? 500 : 5_000, quick ? 150 : 500, { ...floor, step: floorStep })))
if (!quick) rows.push(...(await crowdRows(dir, 300, 20)))
rmSync(dir, { recursive: true, force: true })
rows.push(...(await sandboxRows(floor.bash)), ...(await dockerRows()), ...(await checkpointRows()))
if (!quick) rows.push(...(await scaleRows(1_000_000, 1_000_000)))

async function post(url: string, key: Record<string, string>, id: string, index: number): Promise<void> {
  const body = JSON.stringify({ content: [{ type: 'text', text: `note ${index}` }], run: false })
  const headers = { ...key, 'content-type': 'application/json' }
  const answer = await fetch(`${url}/api/v1/conversation/${id}/events`, { method: 'POST', headers, body })
  if (!answer.ok) throw new Error(await answer.text())
  await answer.text()
}

async function firstRequest(llm: Awaited<ReturnType<typeof openScriptedLlm>>): Promise<number> {
  for (let tries = 0; tries < 500; tries += 1) {
    const [request] = (await llm.log()).requests
    if (request !== undefined) return request.recvStart
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  throw new Error('the model was never asked')
}

process.stdout.write(
  `\nFloors: file append ${floor.file.toFixed(2)} ms, commit ${floor.database.one.toFixed(2)} ms (${floor.database.perSecond.toFixed(0)}/s), bash ${floor.bash.toFixed(2)} ms, HTTP ${floor.http.toFixed(2)} ms, process ${floor.process.toFixed(2)} ms\n\n`,
)
process.stdout.write(`${table(rows)}\n`)
