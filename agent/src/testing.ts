import type { Delta, LogEvent, NewEvent, Usage } from '@parley/contract/events'
import { FileError, type FileEntry, type Files, type Hands } from '@parley/sandbox/driver'
import { systemClock, type Clock } from '@parley/store/clock'
import { z } from 'zod'
import { Fenced, type Log } from './log.ts'
import { defaultPolicy, type Policy } from './loop/policy.ts'
import type { RunOptions } from './loop/work.ts'
import type { Model, ModelPart, ModelRequest } from './model/model.ts'
import { finish } from './tools/finish.ts'
import { observed } from './tools/observation.ts'
import { think } from './tools/think.ts'
import type { CallContext, Tool, ToolContext } from './tools/tool.ts'

/* The two outside things of a run, for tests: an event log in memory and a model that follows a script. */

export interface MemoryLog extends Log {
  readonly events: LogEvent[]
  readonly deltas: Delta[]
  /** What is durable, in its final order: the log as another worker would find it. */
  readonly stored: LogEvent[]
  /** As somebody else's append: durable at once, and read by `inbox`. */
  arrive(...events: NewEvent[]): void
  /** From now on this worker's appends are refused. */
  fence(): void
}

/**
 * A log as a worker has it. Its own events are numbered when they are committed, which `commit` can delay; what others
 * append meanwhile comes before them. `before`: what is stored already.
 */
export function memoryLog(clock: Clock, before: readonly LogEvent[] = [], commit = () => Promise.resolve()): MemoryLog {
  const events = [...before]
  const shelf = shelfOf(before)
  const deltas: Delta[] = []
  let fenced = false
  let last: Promise<void> = Promise.resolve()

  const made = (one: NewEvent, seq: number): LogEvent => {
    const copy = structuredClone(one)
    return { parent_id: null, ...copy, id: one.id ?? clock.id(), seq, timestamp: clock.now() }
  }
  return {
    ...shelf,
    events,
    deltas,
    get readSeq() {
      return shelf.readSeq
    },
    append(...added) {
      const mine = added.map((one, at) => made(one, events.length + at + 1))
      for (const event of mine) shelf.own.add(event.id)
      events.push(...mine)
      last = last.then(async () => {
        await commit()
        if (fenced) throw new Fenced('another worker has this conversation')
        mine.forEach(shelf.keep)
      })
      last.catch(() => {})
      return { stored: mine, durable: last }
    },
    flush: () => last,
    publish: (delta) => deltas.push(delta),
    async inbox() {
      const fresh = shelf.take()
      events.push(...fresh)
      return fresh
    },
    arrive(...added) {
      for (const one of added) shelf.keep(made(one, 0))
      shelf.stir()
    },
    fence: () => (fenced = true),
  }
}

/** What is durable, in its order, and what of it the worker (whose own events are in `own`) has not read yet. */
function shelfOf(before: readonly LogEvent[]) {
  const stored = [...before]
  const own = new Set<string>()
  let read = before.length
  let wake = () => {}
  const unread = () => stored.slice(read).filter((event) => !own.has(event.id))
  return {
    stored,
    own,
    keep(event: LogEvent) {
      event.seq = stored.length + 1
      stored.push(event)
    },
    take() {
      const fresh = unread()
      read = stored.length
      return fresh
    },
    get readSeq() {
      const gap = stored.findIndex((event, at) => at >= read && !own.has(event.id))
      return gap < 0 ? stored.length : gap
    },
    woken: (signal: AbortSignal): Promise<void> =>
      new Promise((resolve) => {
        wake = resolve
        signal.addEventListener('abort', () => resolve(), { once: true })
        if (signal.aborted || unread().length > 0) resolve()
      }),
    stir: () => wake(),
  }
}

/** One turn of the script: its parts one after the other; a number waits so many milliseconds, an error is thrown. */
export type ScriptedTurn = (ModelPart | Error | number)[] | ((request: ModelRequest) => (ModelPart | Error | number)[])

export interface ScriptedModel extends Model {
  /** The requests so far, copied as they were when they were made. */
  readonly requests: ModelRequest[]
}

export const noUsage: Usage = {
  prompt_tokens: 0,
  completion_tokens: 0,
  cache_read_tokens: 0,
  cache_write_tokens: 0,
  reasoning_tokens: 0,
}

interface ScriptedFacts {
  clock: Clock
  /** Dollars per call, null for unknown. */
  cost?: number | null
  vision?: boolean
  /** Tokens. */
  window?: number | null
}

/** Answers with one turn after the other; a call beyond the last is an error. */
export function scriptedModel(
  turns: readonly ScriptedTurn[],
  { clock, cost = 0, vision = true, window = 200_000 }: ScriptedFacts,
): ScriptedModel {
  const requests: ModelRequest[] = []
  return {
    name: 'scripted/model',
    contextWindow: window,
    vision,
    requests,
    cost: () => cost,
    async *stream(request, signal) {
      const turn = turns[requests.length]
      requests.push(structuredClone(request))
      if (turn === undefined) throw new Error('the script has no more turns')
      for (const part of typeof turn === 'function' ? turn(request) : turn) {
        if (part instanceof Error) throw part
        if (typeof part === 'number') await clock.sleep(part, signal)
        else yield part
      }
    },
  }
}

/** A turn that calls tools: `[name, arguments]` each. */
export const calls = (...list: [name: string, args: unknown, id?: string][]): ModelPart[] => [
  ...list.map(([name, args, id], at): ModelPart => {
    const text = typeof args === 'string' ? args : JSON.stringify(args)
    return { type: 'tool-call', id: id ?? `${name}-${at}-${(counted += 1)}`, name, arguments: text }
  }),
  finished('tools'),
]

/** A turn that answers in text. */
export const says = (text: string): ModelPart[] => [{ type: 'text', text }, finished('stop')]

export const finished = (reason: 'stop' | 'tools' | 'length' | 'refusal' | 'other', usage = noUsage): ModelPart => ({
  type: 'finish',
  reason,
  usage,
  responseId: `response-${(counted += 1)}`,
})

let counted = 0

/** A user's message. */
export const userMessage = (text: string, run = true): NewEvent => ({
  kind: 'MessageEvent',
  source: 'user',
  llm_message: { role: 'user', content: [{ type: 'text', text, cache_prompt: false }] },
  run,
})

/** A run's options for a test: short waits, no sandbox unless given, and the tools `think` and `finish`. */
export function testRun(
  given: Pick<RunOptions, 'log' | 'model'> & Partial<Omit<RunOptions, 'policy'>> & { policy?: Partial<Policy> },
): RunOptions {
  const retries = { attempts: 4, multiplier: 2, minWaitMs: 1, maxWaitMs: 4 }
  return {
    hands: () => Promise.resolve({ files: memoryFiles() } as Hands), // the tools of a test use no more of it
    tools: [think, finish],
    clock: systemClock,
    signal: new AbortController().signal,
    cacheKey: 'test',
    workingDir: '/workspace',
    secrets: { names: () => [], valuesFor: () => Promise.resolve({}) },
    systemSuffix: null,
    ...given,
    policy: { ...defaultPolicy, retries, ...given.policy },
  }
}

/** A tool `act` that does what the test says. `resource` in its arguments is what it must have for itself. */
export function actTool(run: (name: string, context: ToolContext) => Promise<string>): Tool {
  const input = z.object({ name: z.string(), resource: z.string().optional() })
  const tool: Tool<typeof input> = {
    name: 'act',
    aliases: [],
    description: 'Acts.',
    input,
    actionKind: 'ActAction',
    observationKind: 'ActObservation',
    readOnly: false,
    resources: ({ resource }) => (resource === undefined ? [] : [resource]),
    run: async ({ name }, context) => observed('ActObservation', await run(name, context)),
  }
  return tool
}

/** A call of a tool that nobody counts. */
export const testCall: CallContext = { id: 'call', budgetLeft: () => null, charge: () => {}, notice: () => {} }

/** Files in memory, with the errors of real ones. */
export function memoryFiles(start: Record<string, string | Uint8Array> = {}): Files {
  const kept = new Map(Object.entries(start).map(([path, data]) => [path, Buffer.from(data)]))
  const folder = (path: string) => [...kept.keys()].some((one) => one.startsWith(`${path === '/' ? '' : path}/`))
  const entry = (path: string): FileEntry | null => {
    const data = kept.get(path)
    if (data === undefined && !folder(path)) return null
    const type = data === undefined ? 'directory' : 'file'
    return { name: path.split('/').at(-1) ?? '', path, type, size: data?.length ?? 0, modified: 0, mode: 0o644 }
  }
  return {
    async read(path, range) {
      const data = kept.get(path)
      if (data === undefined) throw new FileError(folder(path) ? 'EISDIR' : 'ENOENT', path)
      return range === undefined ? data : data.subarray(range.from, range.from + range.length)
    },
    write: async (path, data) => void kept.set(path, Buffer.from(data)),
    append: async (path, data) => void kept.set(path, Buffer.concat([kept.get(path) ?? Buffer.alloc(0), data])),
    async list(path) {
      const inside = path === '/' ? '/' : `${path}/`
      const names = [...kept.keys()]
        .filter((one) => one.startsWith(inside))
        .map((one) => one.slice(inside.length).split('/')[0])
      return [...new Set(names)].flatMap((name) => entry(`${inside}${name}`) ?? [])
    },
    stat: async (path) => entry(path),
    remove: async (path) => {
      for (const one of kept.keys()) if (one === path || one.startsWith(`${path}/`)) kept.delete(one)
    },
  }
}
