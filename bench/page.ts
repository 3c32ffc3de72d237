import { readFileSync } from 'node:fs'
import type { BrowserContext, CDPSession, Page } from 'playwright-core'
import { openLongLog } from '../tests/browser/long-log.ts'
import { openParley } from '../tests/browser/open.ts'
import { p50, p95, quantile, type Row, table } from './measure.ts'

/*
 * `npm run bench:page`: the page on a long conversation, in a real browser on the program as it ships. Opening and scrolling are
 * what a person waits for; memory is the page's own after a stream, with what can be let go of let go.
 */

const events = 10_000
const opens = 7
const quick = process.argv.includes('quick')
const streamed = quick ? 2_000 : 20_000
const rows: Row[] = []
const add = (what: string, unit: string, values: readonly number[], goal: string) => {
  rows.push({
    what,
    unit,
    p50: p50(values),
    p95: values.length > 4 ? p95(values) : null,
    floor: null,
    floorIs: '',
    goal,
  })
  process.stderr.write(`${what}: ${p50(values).toFixed(1)} ${unit}\n`)
}

/** As many pieces as a model writes in half an hour, 50 a second, in as many turns with a command each. */
const turns = quick ? 6 : 60
const answer = Array.from(
  { length: 60 },
  (_, at) =>
    `${at % 6 === 0 ? `\n## Step {{i}}.${at / 6}\n\n` : ''}- Looked at \`src/part-${at}.ts\`, which is **fine**, and at [its test](https://example.com/${at}); it covers what the part promises, and the two or three ways in which it can fail.\n`,
).join('')
/** Another one each time: the same again and again is a loop, which the agent ends. */
const noisy =
  'echo step {{i}}; i=0; while [ $i -lt 400 ]; do i=$((i+1)); echo "line $i of what a long command prints"; done'
const script = {
  turns: [
    {
      repeat: turns,
      text: answer,
      tools: [{ name: 'terminal', args: { command: noisy } }],
      chunkTokens: 2,
      tokensPerSecond: 6000,
    },
    { text: 'All is streamed.' },
  ],
}

await using parley = await openParley({ scripts: { streams: script } })
const { page, context } = parley.visitor
const devtools = await context.newCDPSession(page)
const log = await openLongLog(parley.program, events)
const address = `/conversations/${log.id}`
const last = page.getByRole('log').getByRole('button', { name: new RegExp(`part-${events / 4}$|part-${events / 4} `) })

const loaded: number[] = []
const opened: number[] = []
for (let index = 0; index < opens; index += 1) {
  await page.goto('/sandboxes')
  await page.getByRole('heading', { name: 'Sandboxes' }).waitFor()
  loaded.push(await taken(() => page.goto(address, { waitUntil: 'commit' })))
  await page.goto('/conversations')
  const link = page.getByRole('main').getByRole('link', { name: /A week of work/ })
  await link.waitFor()
  opened.push(await taken(() => link.click()))
}
add(`${events} events: address to last event on the screen`, 'ms', loaded, '< 700')
add(`${events} events: click in the list to last event on the screen`, 'ms', opened, '< 700')

const back = await scrolled(page, -800, quick ? 3_000 : 8_000)
const on = await scrolled(page, 800, quick ? 3_000 : 8_000)
add('scrolling back through the log, frames a second', '1/s', back, '≥ 55')
add('scrolling on again, frames a second', '1/s', on, '≥ 55')
const slowest = [back, on].map((seconds) => quantile(seconds, 0.05))
add('the slowest second of both', '1/s', [Math.min(...slowest)], '')
rows.push(await nodes(page))

await page.goto(address)
await last.waitFor()
add('heap of the page, opened', 'MiB', [await heap(devtools)], '')
for (let left = streamed; left > 0; left -= 500) await log.grow(125)
await page
  .getByRole('log')
  .getByText(`Step ${(events + streamed) / 4 - 1}`)
  .last()
  .waitFor()
  .catch(() => undefined)
add(`heap of the page after ${streamed} more events came in`, 'MiB', [await heap(devtools)], '< 250')

await page.goto('/')
await page.getByLabel('Task for the agent').fill('[[script:streams]] Look at everything')
await page.keyboard.press('Enter')
await page.waitForURL(/\/conversations\/[0-9a-f-]{36}$/)
const sampled: number[] = []
const isDone = page.getByRole('log').getByText('All is streamed.').waitFor({ timeout: 240_000 })
let streams = true
void isDone.finally(() => (streams = false)).catch(() => undefined)
while (streams) {
  sampled.push(await memory(context))
  await new Promise((resolve) => setTimeout(resolve, 1000))
}
await isDone
const [what, pieces] = ['half an hour of streaming', Math.round((turns * answer.length) / 8)]
add(`heap of the page after ${what} (${pieces} pieces)`, 'MiB', [await heap(devtools)], '< 250')
add(`its process during ${what}, at most`, 'MiB', [Math.max(...sampled)], '< 250')
add(`its process after ${what}`, 'MiB', [await memory(context)], '< 250')

process.stdout.write(`\n${table(rows)}\n`)

/** Milliseconds from the act until the last event can be read. */
async function taken(act: () => Promise<unknown>): Promise<number> {
  const began = performance.now()
  await act()
  await last.waitFor()
  return performance.now() - began
}

/** Frames of each second while the wheel turns by so many pixels a step. */
async function scrolled(on: Page, pixels: number, ms: number): Promise<number[]> {
  await on.getByRole('log').hover()
  await on.evaluate(`(() => {
    const times = []
    window.frames_ = times
    const note = (at) => { times.push(at); window.noting_ = requestAnimationFrame(note) }
    window.noting_ = requestAnimationFrame(note)
  })()`)
  const end = performance.now() + ms
  while (performance.now() < end) {
    await on.mouse.wheel(0, pixels)
    await new Promise((resolve) => setTimeout(resolve, 30))
  }
  const times = (await on.evaluate('cancelAnimationFrame(window.noting_), window.frames_')) as number[]
  const first = times[0] ?? 0
  const seconds = Math.floor(((times.at(-1) ?? 0) - first) / 1000)
  return Array.from(
    { length: seconds },
    (_, at) => times.filter((time) => time - first >= at * 1000 && time - first < (at + 1) * 1000).length,
  )
}

async function nodes(on: Page): Promise<Row> {
  const count = Number(await on.evaluate("document.querySelectorAll('[role=log] *').length"))
  return { what: 'elements of the log', unit: '', p50: count, p95: null, floor: null, floorIs: '', goal: '' }
}

/** MiB in use after a collection. */
async function heap(session: CDPSession): Promise<number> {
  await session.send('HeapProfiler.enable')
  await session.send('HeapProfiler.collectGarbage')
  const { usedSize } = await session.send('Runtime.getHeapUsage')
  return usedSize / 1024 / 1024
}

/** MiB that the page's process has for itself. */
async function memory(of: BrowserContext): Promise<number> {
  const browser = await of.browser()?.newBrowserCDPSession()
  if (browser === undefined) throw new Error('there is no browser')
  const { processInfo } = await browser.send('SystemInfo.getProcessInfo')
  await browser.detach()
  const own = processInfo.filter(({ type }) => type === 'renderer').map(({ id }) => privateOf(id))
  return Math.max(...own) / 1024
}

/** KiB of a process that it shares with no other. */
function privateOf(pid: number): number {
  const sums = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8').matchAll(/^Private_\w+:\s+(\d+)/gm)
  return [...sums].reduce((sum, [, kib]) => sum + Number(kib), 0)
}
