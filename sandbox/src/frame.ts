/*
 * What is the same of every driver: which sandboxes are held, one verb at a time for each of them, and who is told of an end.
 * A kind of sandbox is an `Engine`, which knows how one is opened, what is remembered of it, and how its files go.
 */
import type { Driver, Hands, SandboxSpec, Seen } from './driver.ts'
import { SandboxGone } from './driver.ts'
import { isSandboxId } from './inside.ts'
import { turns } from './turns.ts'

/** A sandbox that runs, or is frozen, in the hands of this program. */
export interface Held {
  readonly hands: Hands
  /** Which limits it hit, for people; undefined when none. */
  limitsHit(): Promise<string | undefined>
  /** Resolves with why it ended by itself, for people. Need not resolve once it was closed. */
  readonly ended: Promise<string>
  /** Stops all that runs, or lets it go on. Absent: nothing of a sandbox but its files outlives a pause. */
  freeze?(frozen: boolean): Promise<void>
  /** Nothing of it runs then; its files stay. */
  close(): Promise<void>
  /** At the end of the program, instead of `close`: it may run on, for the next start of the program to take charge of. */
  leave?(): Promise<void>
}

export interface Engine {
  readonly kind: Driver['kind']
  readonly workspaceOf: Driver['workspaceOf']
  readonly warning?: string
  /** Awaited before every verb, so it remembers its success. Takes charge of what runs already. */
  ready(): Promise<unknown>
  /** Makes it, or runs it again on its old files. A failure leaves nothing running. */
  open(spec: SandboxSpec, signal: AbortSignal, progress: (line: string) => void): Promise<Held>
  /** What is remembered of a sandbox, running or not; undefined when there is none. `refusal`: why it cannot be opened. */
  recall(id: string): Promise<{ paused: boolean; refusal?: string | undefined } | undefined>
  /** Rejects with `SandboxGone` when there is none. */
  remember(id: string, paused: boolean): Promise<void>
  /** Of everything of ours, also of what is only half there. */
  ids(): Promise<string[]>
  /** Files and everything else of a sandbox that is not held. Absent is fine. */
  forget(id: string): Promise<void>
  doctor(driver: Driver, signal: AbortSignal): ReturnType<Driver['doctor']>
  /** Called last. */
  close(): Promise<void>
}

/** Puts one that runs already in the hands of the driver. */
export type Adopt = (id: string, one: Held, paused: boolean) => void

export function driverOf(make: (adopt: Adopt) => Engine): Driver {
  const all = new Map<string, { one: Held; paused: boolean }>()
  const listeners: ((seen: Seen) => void)[] = []
  const ofEach = turns()
  const ending = new AbortController()
  const starts = new Set<Promise<void>>()
  const inTurn = <T>(id: string, work: () => Promise<T>): Promise<T> =>
    isSandboxId(id) ? ofEach(id, work) : Promise.reject(new Error(`not a sandbox id: ${JSON.stringify(id)}`))

  const adopt: Adopt = (id, one, paused) => {
    const entry = { one, paused }
    all.set(id, entry)
    const end = async (detail: string) => {
      const mine = await inTurn(id, async () => all.get(id) === entry && (await close(id), true))
      if (mine) for (const listener of listeners) listener({ id, state: 'stopped', detail })
    }
    void one.ended.then(end).catch(() => undefined) // it could not be cleared away: the next start of it says so
  }
  const engine = make(adopt)

  const close = async (id: string): Promise<void> => {
    const entry = all.get(id)
    all.delete(id)
    await entry?.one.close()
  }

  const look = async (id: string): Promise<Seen> => {
    await engine.ready()
    const known = isSandboxId(id) ? await engine.recall(id) : undefined
    if (known === undefined) return { id, state: 'missing', detail: null }
    if (known.refusal !== undefined) return { id, state: 'error', detail: known.refusal }
    const entry = all.get(id)
    if (entry === undefined) return { id, state: known.paused ? 'paused' : 'stopped', detail: null }
    return { id, state: entry.paused ? 'paused' : 'running', detail: (await entry.one.limitsHit()) ?? null }
  }

  const setPaused = async (id: string, paused: boolean): Promise<void> => {
    const entry = all.get(id)
    // What only ends is remembered first: cut off in between, the next life of this program goes on with its end.
    if (entry !== undefined && entry.one.freeze === undefined) {
      await engine.remember(id, paused)
      return paused ? close(id) : undefined
    }
    if (entry !== undefined && entry.paused !== paused) {
      await entry.one.freeze?.(paused)
      entry.paused = paused
    }
    await engine.remember(id, paused)
  }

  const start: Driver['start'] = async (spec, signal, progress = () => undefined) => {
    const { id } = spec
    const given = AbortSignal.any([signal, ending.signal])
    const mine = inTurn(id, async () => {
      given.throwIfAborted()
      await engine.ready()
      const entry = all.get(id)
      if (entry === undefined) adopt(id, await engine.open(spec, given, progress), false)
      else if (entry.paused) await setPaused(id, false)
    })
    starts.add(mine)
    await mine.finally(() => starts.delete(mine))
  }

  const driver: Driver = {
    kind: engine.kind,
    workspaceOf: engine.workspaceOf,
    warning: engine.warning ?? null,
    start,
    resume: start,
    look,
    doctor: (signal) => engine.doctor(driver, signal),
    async list() {
      await engine.ready()
      return Promise.all((await engine.ids()).map(look))
    },
    pause: (id) =>
      inTurn(id, async () => {
        await engine.ready()
        if (!all.get(id)?.paused) await setPaused(id, true)
      }),
    remove: (id) =>
      inTurn(id, async () => {
        await engine.ready()
        await close(id)
        await engine.forget(id)
      }),
    async hands(id) {
      await engine.ready()
      const entry = all.get(id)
      if (entry === undefined) throw new SandboxGone(`sandbox ${id} is not running`)
      if (entry.paused) throw new SandboxGone(`sandbox ${id} is paused`)
      return entry.one.hands
    },
    onEnd: (listener) => void listeners.push(listener),
    async [Symbol.asyncDispose]() {
      const leave = async (id: string) => {
        const one = all.get(id)?.one
        if (one?.leave === undefined) return close(id)
        all.delete(id)
        await one.leave()
      }
      // What is being opened is given up, before the parts it is opened with go.
      ending.abort(new SandboxGone('the server is stopping'))
      await Promise.allSettled(starts)
      await Promise.allSettled([...all.keys()].map((id) => inTurn(id, () => leave(id))))
      await engine.close()
    },
  }
  return driver
}

/** Does the work once; a failure is forgotten, and the next caller tries again. */
export function lasting<T>(work: () => Promise<T>): () => Promise<T> {
  let done: Promise<T> | undefined
  return () => {
    const mine = (done ??= work())
    mine.catch(() => (done === mine ? (done = undefined) : undefined))
    return mine
  }
}
