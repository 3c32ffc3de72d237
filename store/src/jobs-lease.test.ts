import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { sql } from 'kysely'
import { systemClock } from './clock.ts'
import { type Job, LeaseLost, Stopping } from './jobs.ts'
import { aborted, empty, house, until } from './testing-jobs.ts'

/* Whose a job is: while its run works, when that is stopped or killed, and who goes on with it. */

test('a run that lost its lease is told so, and can no longer finish', async () => {
  await using here = await house()
  const [fenced, reasons]: [boolean[], unknown[]] = [[], []]
  const run = async (job: Job) => {
    if (job.attempt > 1) return
    await here.database.rows(sql`update job set epoch = nextval('job_epoch'), lease_until = now()`)
    await aborted(job).catch((reason: unknown) => reasons.push(reason))
    fenced.push(await one.database.transaction((tx) => job.finish(tx)))
  }
  const one = here.replica('one', { work: { run } })
  await one.spawn('a')
  await empty(here)
  await until(() => fenced.length > 0)
  assert.deepEqual(fenced, [false])
  assert.ok(reasons[0] instanceof LeaseLost)
})

test('a long job keeps its lease, also while a transaction has its row locked', async () => {
  await using here = await house()
  let runs = 0
  const run = async () => {
    runs += 1
    await systemClock.sleep(2_500)
  }
  const one = here.replica('one', { work: { run } }, 1_500)
  here.replica('two', { work: { run } }, 1_500)
  await one.spawn('a')
  await until(() => runs > 0)
  await here.database.transaction(async (tx) => {
    await tx.rows(sql`select * from job for update`)
    await systemClock.sleep(300)
  })
  await empty(here)
  assert.equal(runs, 1)
})

test('stopping tells the runs, and another replica goes on at once without counting the attempt', async () => {
  await using here = await house()
  const reasons: unknown[] = []
  const attempts: number[] = []
  const one = here.replica(
    'one',
    {
      work: {
        run: (job) =>
          aborted(job).catch((reason: unknown) => {
            reasons.push(reason)
            throw reason
          }),
      },
    },
    600_000,
  )
  const two = here.replica('two', {})
  await one.spawn('a')
  await until(async () => (await here.left())[0]?.attempt === 1)
  two.jobs.register('work', {
    run: async (job) => void attempts.push(job.attempt),
    attempts: 3,
    backoffMs: 5,
    concurrency: 1,
  })
  await one.jobs.stop(5_000)
  await empty(here)
  assert.ok(reasons[0] instanceof Stopping)
  assert.deepEqual(attempts, [1])
})

test('a run that does not heed the stop is handed on after the grace and cannot finish', async () => {
  await using here = await house()
  const let_go = Promise.withResolvers<void>()
  const finished: boolean[] = []
  const run = async (job: Job) => {
    await let_go.promise
    finished.push(await here.database.transaction((tx) => job.finish(tx)))
  }
  const one = here.replica('one', { work: { run } }, 600_000)
  await one.spawn('a')
  await until(async () => (await here.left())[0]?.attempt === 1)
  await one.jobs.stop(50)
  const ran: number[] = []
  here.replica('two', { work: { run: async ({ attempt }) => void ran.push(attempt) } })
  await empty(here)
  let_go.resolve()
  await until(() => finished.length > 0)
  assert.deepEqual([ran, finished], [[1], [false]])
})

test('a job with an affinity runs on that replica while it lives, and elsewhere when it is gone', async () => {
  await using here = await house()
  const ran: string[] = []
  const one = here.replica('one', { work: { run: async ({ key }) => void ran.push(`one ${key}`) } })
  const two = here.replica('two', { work: { run: async ({ key }) => void ran.push(`two ${key}`) } })
  const seen = async () => (await here.database.rows(sql`select from replica`)).length === 2
  await until(seen)
  await Promise.all(['a', 'b', 'c', 'd', 'e', 'f'].map((key) => one.spawn(key, { affinity: 'two' })))
  await empty(here)
  assert.deepEqual(new Set(ran.map((line) => line.slice(0, 3))), new Set(['two']))
  await two.jobs.stop(100)
  await one.spawn('g', { affinity: 'two' })
  await empty(here)
  assert.equal(ran.at(-1), 'one g')
})

test('what a replica that was killed had begun is taken over by another', async () => {
  await using here = await house()
  const child = spawn(
    process.execPath,
    [fileURLToPath(new URL('jobs.fixture.ts', import.meta.url)), JSON.stringify(here.connection)],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  )
  const begun = once(child.stdout, 'data')
  const one = here.replica('one', {})
  await one.spawn('a')
  await begun
  child.kill('SIGKILL')
  await once(child, 'exit')
  const attempts: number[] = []
  here.replica('two', { work: { run: async ({ attempt }) => void attempts.push(attempt) } })
  await empty(here)
  assert.deepEqual(attempts, [2])
})
