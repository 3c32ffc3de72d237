import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { until } from '../tools/house.ts'
import { openLongLog } from './long-log.ts'
import { openParley } from './open.ts'

/* A conversation of 10,000 events is used like one of ten. */

const events = 10_000
const steps = events / 4
const parley = await openParley({ scripts: {} })
after(() => parley[Symbol.asyncDispose]())
const { page } = parley.visitor
const long = await openLongLog(parley.program, events)
const log = page.getByRole('log')
const call = (step: number) => log.getByRole('button', { name: new RegExp(`npm test -- part-${step} `) })
const theLog = "document.querySelector('[role=log]')"
const elements = async (): Promise<number> =>
  Number(await page.evaluate("document.querySelectorAll('[role=log] *').length"))
/** Pixels between what is seen and the end. */
const below = async (): Promise<number> =>
  Number(
    await page.evaluate(
      `(({ scrollHeight, scrollTop, clientHeight }) => scrollHeight - scrollTop - clientHeight)(${theLog})`,
    ),
  )

/** The call in the middle of the screen, and where it stands; undefined while the log still moves. */
async function read(): Promise<{ step: number; top: number } | undefined> {
  const look = () =>
    page.evaluate(`(() => {
      const middle = [...${theLog}.querySelectorAll('button[aria-expanded]')].find((one) => one.getBoundingClientRect().top > 300)
      return { step: Number(/part-(\\d+)/.exec(middle?.textContent ?? '')?.[1]), top: middle?.getBoundingClientRect().top ?? 0 }
    })()`) as Promise<{ step: number; top: number }>
  const [before, after] = [await look(), await look()]
  return before.step === after.step && before.top === after.top ? after : undefined
}

test('it opens at its end, with no more in the page than fits on the screen', async () => {
  await page.goto(`/conversations/${long.id}`)
  await call(steps).waitFor()
  assert.ok((await below()) < 80, `${await below()} pixels above the end`)
  assert.ok((await elements()) < 600, `${await elements()} elements`)
})

test('its end is followed while more comes, and the page does not grow', async () => {
  await long.grow(1500)
  await call(steps + 1500).waitFor()
  await until('the end is on the screen', 10_000, async () => (await below()) < 80)
  assert.ok((await elements()) < 600, `${await elements()} elements`)
})

test('scrolling back loads what was before, stays where one reads, and one jump leads to the latest', async () => {
  await log.hover()
  await until('a step far back is on the screen', 30_000, async () => {
    const { step = Infinity } = (await read()) ?? {}
    if (step < steps + 1000) return true
    await page.mouse.wheel(0, -1200)
    return false
  })
  const seen = await until('the log has come to rest', 10_000, read)
  const before = await below()
  await long.grow(3)
  await until('more has come below', 10_000, async () => (await below()) > before)
  assert.deepEqual(await until('the log is at rest', 10_000, read), seen)
  await page.getByRole('button', { name: 'Jump to latest' }).click()
  await call(steps + 1503).waitFor()
  assert.ok((await elements()) < 600, `${await elements()} elements`)
})

test('an address with a number leads to that event, far from the end', async () => {
  await page.goto(`/conversations/${long.id}?tab=events&seq=5000`)
  await page.getByRole('link', { name: /^5000 / }).waitFor()
  await page.getByText('"seq": 5000').waitFor()
})

test('the browser has nothing to complain about', () => assert.deepEqual(parley.visitor.complaints(), []))
