import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { systemClock } from './clock.ts'
import { type Job, Later } from './jobs.ts'
import { aborted, empty, house, until } from './testing-jobs.ts'

test('a job runs once with what it was given, and its row is gone when it is done', async () => {
  await using here = await house()
  const ran: Job[] = []
  const one = here.replica('one', { work: { run: async (job) => void ran.push(job) } })
  const { id, spawned } = await one.spawn('a')
  assert.ok(spawned)
  await empty(here)
  assert.deepEqual(
    ran.map((job) => [job.id, job.kind, job.key, job.input, job.attempt]),
    [[id, 'work', 'a', { key: 'a' }, 1]],
  )
})

test('a job of a transaction that was rolled back never runs', async () => {
  await using here = await house()
  const ran: string[] = []
  const one = here.replica('one', { work: { run: async ({ key }) => void ran.push(key) } })
  const broken = one.database.transaction(async (tx) => {
    await one.jobs.spawn(tx, { kind: 'work', key: 'never', input: null })
    throw new Error('no')
  })
  await assert.rejects(broken, /no/)
  await one.spawn('a')
  await empty(here)
  assert.deepEqual(ran, ['a'])
})

test('of two spawns with one key the second is answered with the first', async () => {
  await using here = await house()
  const one = here.replica('one', {})
  const first = await one.spawn('a')
  assert.deepEqual(await one.spawn('a'), { id: first.id, spawned: false })
})

test('in 200 races of two replicas each job runs on one of them, once', async () => {
  await using here = await house()
  const ran: string[] = []
  const run = async ({ key }: Job) => void ran.push(key)
  const [one, two] = [here.replica('one', { work: { run } }), here.replica('two', { work: { run } })]
  const keys = Array.from({ length: 200 }, (_, i) => `race ${i}`)
  const spawned = await Promise.all(keys.flatMap((key) => [one.spawn(key), two.spawn(key)]))
  await empty(here)
  const wins = spawned.filter((done) => done.spawned).length
  assert.equal(ran.length, wins)
  assert.deepEqual(new Set(ran), new Set(keys))
})

test('200 jobs that lie ready are claimed by four replicas without a double', async () => {
  await using here = await house()
  await here.database.rows(sql`insert into job (id, kind, key, input, run_at)
    select uuidv7(), 'work', 'ready ' || n, '{}', now() from generate_series(1, 200) n`)
  const ran: string[] = []
  for (const name of ['1', '2', '3', '4']) here.replica(name, { work: { run: async ({ key }) => void ran.push(key) } })
  await empty(here)
  assert.equal(ran.length, 200)
  assert.equal(new Set(ran).size, 200)
})

test('a job begins where it was spawned when there is a free slot, and elsewhere when it belongs there', async () => {
  await using here = await house()
  const ran: string[] = []
  const on = (name: string) => ({
    work: { run: async ({ key }: Job) => void ran.push(`${key} on ${name}`), concurrency: 30 },
  })
  const one = here.replica('one', on('one'))
  here.replica('two', on('two'))
  for (let n = 0; n < 20; n += 1) await one.spawn(`${n}`)
  await until(() => ran.length === 20)
  assert.deepEqual(new Set(ran), new Set(Array.from({ length: 20 }, (_, n) => `${n} on one`)))
  await one.spawn('theirs', { affinity: 'two' })
  await empty(here)
  assert.equal(ran.at(-1), 'theirs on two')
})

test('of jobs that were spawned together no more than the agreed number begin, and the others follow', async () => {
  await using here = await house()
  let [now, most] = [0, 0]
  const attempts: number[] = []
  const run = async ({ attempt }: Job) => {
    attempts.push(attempt)
    most = Math.max(most, ++now)
    await systemClock.sleep(20)
    now -= 1
  }
  const one = here.replica('one', { work: { run, concurrency: 3 } })
  const jobs = Array.from({ length: 10 }, (_, n) => ({ kind: 'work', key: `${n}`, input: null }))
  const done = await one.database.transaction((tx) => one.jobs.spawnAll(tx, jobs))
  assert.ok(done.every(({ spawned }) => spawned))
  await empty(here)
  assert.equal(most, 3)
  assert.deepEqual(
    attempts,
    Array.from({ length: 10 }, () => 1),
  )
})

test('a job that can do nothing yet runs again, no sooner than it said, as often as it takes', async () => {
  await using here = await house()
  const ran: { attempt: number; at: number }[] = []
  const run = async ({ attempt }: Job) => {
    ran.push({ attempt, at: performance.now() })
    if (ran.length < 6) throw new Later(50)
  }
  const one = here.replica('one', { work: { run, attempts: 2 } })
  await one.spawn('a')
  await empty(here)
  assert.deepEqual(
    ran.map(({ attempt }) => attempt),
    [1, 1, 1, 1, 1, 1],
  )
  const pauses = ran.slice(1).map(({ at }, index) => at - (ran[index]?.at ?? 0))
  assert.ok(Math.min(...pauses) >= 50, pauses.join(', '))
})

test('no more than the agreed number run at once, and a busy kind does not hold up another', async () => {
  await using here = await house()
  let now = 0
  let most = 0
  let other = 0
  const run = async () => {
    most = Math.max(most, ++now)
    await systemClock.sleep(5)
    now -= 1
  }
  const one = here.replica('one', {
    work: { run, concurrency: 2 },
    stuck: { run: aborted, concurrency: 1 },
    quick: { run: async () => void other++ },
  })
  const keys = Array.from({ length: 20 }, (_, i) => String(i))
  await Promise.all(keys.map((key) => one.spawn(key)))
  await one.spawn('s', { kind: 'stuck' })
  await one.spawn('q', { kind: 'quick' })
  await until(async () => (await here.left()).length === 1)
  assert.equal(most, 2)
  assert.equal(other, 1)
})

test('a failing job is tried again as often as agreed, then told so, then gone', async () => {
  await using here = await house()
  const attempts: number[] = []
  const failed: string[] = []
  const run = async ({ attempt }: Job) => {
    attempts.push(attempt)
    throw new Error(`failure ${attempt}`)
  }
  const one = here.replica('one', { work: { run, failed: async (_, error) => void failed.push(String(error)) } })
  await one.spawn('a')
  await empty(here)
  assert.deepEqual(attempts, [1, 2, 3])
  assert.deepEqual(failed, ['Error: failure 3'])
})

test('a delayed job does not run before its time', async () => {
  await using here = await house()
  let ranAt = 0
  const one = here.replica('one', { work: { run: async () => void (ranAt = performance.now()) } })
  const began = performance.now()
  await one.spawn('a', { delayMs: 300 })
  await empty(here)
  assert.ok(ranAt - began >= 290)
})

test('finish ends the job in the transaction of its work, or not at all when that fails', async () => {
  await using here = await house()
  const results: boolean[] = []
  const run = async (job: Job) => {
    await one.database.transaction(async (tx) => {
      results.push(await job.finish(tx))
      await tx.rows(sql`insert into ran values (${job.key}, ${String(job.attempt)})`)
      if (job.attempt === 1) throw new Error('after finish')
    })
  }
  const one = here.replica('one', { work: { run } })
  await one.spawn('a')
  await empty(here)
  assert.deepEqual(results, [true, true])
  assert.deepEqual(await here.database.rows(sql`select key, replica from ran`), [{ key: 'a', replica: '2' }])
})

test('work that is spawned while the same job is finishing is seen by it or runs after it', async () => {
  await using here = await house()
  const seen = new Set<string>()
  const look = async (job: Job) => {
    for (let done = false; !done;) {
      done = await one.database.transaction(async (tx) => {
        await job.finish(tx)
        const rows = await tx.rows<{ key: string }>(sql`delete from ran returning key`)
        for (const { key } of rows) seen.add(key)
        return true
      })
    }
  }
  const one = here.replica('one', { work: { run: look } })
  const messages = Array.from({ length: 100 }, (_, i) => `message ${i}`)
  const send = (message: string) =>
    one.database.transaction(async (tx) => {
      await tx.rows(sql`insert into ran values (${message}, '')`)
      await one.jobs.spawn(tx, { kind: 'work', key: 'conversation', input: null })
      await systemClock.sleep(Math.random() * 3)
    })
  for (let i = 0; i < messages.length; i += 4) await Promise.all(messages.slice(i, i + 4).map(send))
  await empty(here)
  assert.deepEqual(seen, new Set(messages))
})

test('a run that finishes waits for a transaction that has just spawned its job, and sees what that one wrote', async () => {
  await using here = await house()
  const [begun, go] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const seen: string[] = []
  const run = async (job: Job) => {
    begun.resolve()
    await go.promise
    await one.database.transaction(async (tx) => {
      await job.finish(tx)
      for (const { key } of await tx.rows<{ key: string }>(sql`select key from ran`)) seen.push(key)
    })
  }
  const one = here.replica('one', { work: { run } })
  await one.spawn('conversation')
  await begun.promise
  await one.database.transaction(async (tx) => {
    await tx.rows(sql`insert into ran values ('message', '')`)
    await one.jobs.spawn(tx, { kind: 'work', key: 'conversation', input: null })
    go.resolve()
    await systemClock.sleep(200)
  })
  await empty(here)
  assert.deepEqual(seen, ['message'])
})
