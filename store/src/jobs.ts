import { randomUUID } from 'node:crypto'
import type { Clock } from './clock.ts'
import type { Database } from './database.ts'
import { type Claimed, type JobRows, jobRows, type Spawn } from './jobs-rows.ts'
import { type Kind, LeaseLost, type Running, runClaimed, Stopping } from './jobs-run.ts'
import type { Wake } from './wake.ts'

/*
 * Durable work: a row that is spawned in the caller's transaction and is gone when its work is done. A replica claims a row,
 * found or spawned by itself, by a lease (by the database's clock) and a new epoch, renews all its leases once a second, and
 * ends a run whose lease is lost. What a run writes it writes under its epoch (`Job.finish`), so a run that was given up for
 * dead cannot write after the one that replaced it. A job may therefore run more than once, and has its effect once.
 */

export type { Job, Kind } from './jobs-run.ts'
export { Later, LeaseLost, Stopping } from './jobs-run.ts'
export { jobTable } from './jobs-table.ts'

/** The job's id; false when one of its kind and key was there already. */
export interface Spawned {
  id: string
  spawned: boolean
}

export interface Jobs {
  /**
   * Adds a job to the caller's transaction; `spawned` is false when one of this kind and key is there already, and that
   * one's id is answered. Either way the job cannot end before the transaction does: a run that calls `finish` first and
   * then looks for work sees what the transaction wrote.
   */
  spawn(tx: Database, job: Omit<Spawn, 'id'>): Promise<Spawned>
  /** The same for several with different keys, in one statement; answered in their order. */
  spawnAll(tx: Database, jobs: readonly Omit<Spawn, 'id'>[]): Promise<Spawned[]>
  /** Says how this replica runs a kind; kinds that it does not know it leaves to others. Before `start`. */
  register(kind: string, how: Kind): void
  start(): void
  /** Claims no more, aborts the signals with `Stopping`, waits up to `graceMs`, and hands what is left to the others. */
  stop(graceMs: number): Promise<void>
}

export interface JobsOptions {
  database: Database
  wake: Wake
  clock: Clock
  /** The name of this process among the replicas; two living ones must not share it. */
  replica: string
  leaseMs?: number
  log: (message: string, details?: Record<string, unknown>) => void
}

const topic = 'jobs'
const beatMs = 1_000
const pollMs = 1_000
const retryMs = 200

/** Everything that one replica's claiming and beating share. */
interface Engine {
  rows: JobRows
  kinds: Map<string, Kind>
  running: Map<string, Running>
  options: JobsOptions
  leaseMs: number
  /** Looks for jobs to claim; nothing until this replica works. */
  poke: () => void
  working: boolean
  stopping: boolean
}

export function openJobs(options: JobsOptions): Jobs {
  const leaseMs = options.leaseMs ?? 4_000
  // A process that comes back under the same name must not take the rows of its former life for its own.
  const owner = `${options.replica} ${randomUUID().slice(0, 8)}`
  const rows = jobRows(options.database, { replica: options.replica, owner, leaseMs })
  const engine: Engine = {
    rows,
    kinds: new Map(),
    running: new Map(),
    options,
    leaseMs,
    poke: () => {},
    working: false,
    stopping: false,
  }
  let ends: (() => void)[] = []
  const spawnAll: Jobs['spawnAll'] = async (tx, jobs) => {
    const until = performance.now() + leaseMs
    const wanted = jobs.map((job) => ({ ...job, id: options.clock.id(), taken: takes(engine, job) }))
    const done = await rows.insert(tx, wanted)
    tx.afterCommit(() => {
      const added = wanted.flatMap((job, index) => (done[index]?.spawned ? { ...job, epoch: done[index].epoch } : []))
      if (added.some(({ taken }) => !taken)) options.wake.tell(topic)
      // After whoever waits for this commit has been answered.
      setImmediate(() => added.forEach((job) => job.taken && take(engine, job, until)))
    })
    return done.map(({ id, spawned }) => ({ id, spawned }))
  }
  return {
    spawnAll,
    async spawn(tx, job) {
      const [done] = await spawnAll(tx, [job])
      if (done === undefined) throw new Error('a job without an answer')
      return done
    },
    register: (kind, how) => void engine.kinds.set(kind, how),
    start() {
      engine.working = true
      ends = [claimer(engine), heart(engine)]
    },
    async stop(graceMs) {
      engine.stopping = true
      ends[0]?.()
      for (const run of engine.running.values()) run.abort.abort(new Stopping())
      const all = Promise.allSettled([...engine.running.values()].map((run) => run.done))
      await within(all, graceMs)
      ends[1]?.()
      // A run that still goes on has lost its lease by this and can write nothing more.
      await rows.handBackAll().catch((error: unknown) => options.log('The leases could not be handed back.', { error }))
      options.wake.tell(topic)
    },
  }
}

/** Claims when woken, when a slot is free again, and when the next job is due; never two claims at a time. */
function claimer(engine: Engine): () => void {
  const { wake, log } = engine.options
  let wanted = false
  let busy = false
  let timer: NodeJS.Timeout | undefined

  const poke = async () => {
    wanted = true
    if (busy) return
    busy = true
    let pause = pollMs
    while (wanted && !engine.stopping) {
      wanted = false
      pause = await claim(engine).catch((error: unknown) => {
        log('Jobs could not be claimed.', { error })
        return pollMs
      })
      if (pause === 0) wanted = true
    }
    busy = false
    clearTimeout(timer)
    if (!engine.stopping) timer = setTimeout(poke, pause)
  }
  engine.poke = () => void poke()
  const off = wake.on(topic, engine.poke)
  void poke()
  return () => {
    off()
    clearTimeout(timer)
  }
}

/** Whether a job that is spawned here can begin here, without being looked for. */
function takes(engine: Engine, { kind, affinity = null, delayMs = 0 }: Omit<Spawn, 'id'>): boolean {
  const mine = affinity === null || affinity === engine.options.replica
  return mine && delayMs === 0 && engine.working && !engine.stopping && hasSlot(engine, kind)
}

/** Begins a job that this replica has spawned and claimed in one. */
function take(engine: Engine, job: Omit<Spawn, 'id'> & { id: string; epoch: number }, until: number): void {
  const { id, kind, key, epoch } = job
  const input: unknown = JSON.parse(JSON.stringify(job.input ?? null))
  beginIfFree(engine, { id, kind, key, input, attempt: 1, epoch, last_error: null }, until)
}

/** Its slot may have been filled since it was claimed: by one that was spawned here, or one that was found. */
function beginIfFree(engine: Engine, row: Claimed, until: number): void {
  const { rows, options } = engine
  if (!engine.stopping && hasSlot(engine, row.kind)) return begin(engine, row, until)
  rows
    .handBack(row)
    .then(() => options.wake.tell(topic))
    // Its lease runs out.
    .catch((error: unknown) => options.log('A job could not be handed back.', { error }))
}

const hasSlot = (engine: Engine, kind: string): boolean => freeSlots(engine).some((free) => free.kind === kind)

/** Starts what can be claimed; answers how long to wait with the next claim. */
async function claim(engine: Engine): Promise<number> {
  const free = freeSlots(engine)
  if (free.length === 0) return pollMs
  const began = performance.now()
  const { jobs, nextMs } = await engine.rows.claim(free)
  for (const row of jobs) beginIfFree(engine, row, began + engine.leaseMs)
  const filled = free.some(({ kind, slots }) => jobs.filter((row) => row.kind === kind).length === slots)
  // A kind that filled its slots may have more waiting, but only a freed slot could take it.
  return filled && freeSlots(engine).length > 0 ? 0 : Math.max(1, Math.min(pollMs, nextMs))
}

function freeSlots({ kinds, running }: Engine): { kind: string; slots: number }[] {
  const free = new Map([...kinds].map(([kind, { concurrency }]) => [kind, concurrency]))
  for (const { row } of running.values()) free.set(row.kind, (free.get(row.kind) ?? 0) - 1)
  return [...free].flatMap(([kind, slots]) => (slots > 0 ? [{ kind, slots }] : []))
}

function begin(engine: Engine, row: Claimed, until: number): void {
  const kind = engine.kinds.get(row.kind)
  if (!kind) return
  const abort = new AbortController()
  const name = `${row.id} ${row.epoch}`
  const run: Running = { row, abort, done: Promise.resolve() }
  engine.running.set(name, run)
  hold(run, until)
  run.done = runClaimed({ ...engine.options, rows: engine.rows, kind }, run).finally(() => {
    clearTimeout(run.expiry)
    engine.running.delete(name)
    engine.poke()
  })
}

/** One statement a second says that this replica lives and renews what it holds. */
function heart({ rows, running, options, leaseMs }: Engine): () => void {
  const stopped = new AbortController()
  const beat = async (): Promise<number> => {
    const began = performance.now()
    const mine = [...running.values()]
    try {
      const found = await rows.beat(mine.map(({ row }) => row))
      for (const run of mine) {
        const state = found(run.row)
        if (state === 'renewed') hold(run, began + leaseMs)
        if (state === 'lost') run.abort.abort(new LeaseLost())
      }
      return beatMs
    } catch (error) {
      options.log('The heartbeat failed.', { error })
      return retryMs
    }
  }
  const live = async () => {
    while (!stopped.signal.aborted) await options.clock.sleep(await beat(), stopped.signal)
  }
  // Ends by the abort of its sleep.
  live().catch(() => {})
  return () => stopped.abort()
}

/** By our own clock too: a database that does not answer cannot say that the lease is over. */
function hold(run: Running, until: number): void {
  clearTimeout(run.expiry)
  run.expiry = setTimeout(() => run.abort.abort(new LeaseLost()), Math.max(0, until - performance.now()))
}

async function within(done: Promise<unknown>, ms: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  await Promise.race([done, new Promise((resolve) => (timer = setTimeout(resolve, ms)))])
  clearTimeout(timer)
}
