import type { Delta, LogEvent, NewEvent, Usage } from '@parley/contract/events'
import type { Clock } from '@parley/store/clock'
import { Fenced, type Log } from './log.ts'
import type { Model, ModelPart, ModelRequest } from './model/model.ts'

/* The two outside things of a run, for tests: an event log in memory and a model that follows a script. */

export interface MemoryLog extends Log {
  readonly events: LogEvent[]
  readonly deltas: Delta[]
  /** As somebody else's append: comes by `inbox`. */
  arrive(...events: NewEvent[]): void
  /** From now on this worker's appends are refused. */
  fence(): void
  /** What is durable by now: the log as another worker would find it. */
  durable(): LogEvent[]
}

/** `commit` is awaited before appended events count as durable; nothing unless given. */
export function memoryLog(clock: Clock, before: readonly LogEvent[] = [], commit = () => Promise.resolve()): MemoryLog {
  const events = [...before]
  const arrived: NewEvent[] = []
  const deltas: Delta[] = []
  let kept = events.length
  let fenced = false
  let last: Promise<void> = Promise.resolve()
  let wake = () => {}

  const store = (one: NewEvent): LogEvent => {
    const stored = { parent_id: null, ...one, id: one.id ?? clock.id(), seq: events.length + 1, timestamp: clock.now() }
    events.push(stored)
    return stored
  }
  const append = (...added: NewEvent[]) => {
    const stored = added.map(store)
    const upTo = events.length
    last = last.then(async () => {
      await commit()
      if (fenced) throw new Fenced('another worker has this conversation')
      kept = Math.max(kept, upTo)
    })
    last.catch(() => {})
    return { stored, durable: last }
  }
  return {
    events,
    deltas,
    append,
    flush: () => last,
    publish: (delta) => deltas.push(delta),
    inbox: async () => {
      const taken = arrived.splice(0)
      return taken.length === 0 ? [] : append(...taken).stored
    },
    woken: (signal) =>
      new Promise((resolve) => {
        if (arrived.length > 0 || signal.aborted) return resolve()
        wake = resolve
        signal.addEventListener('abort', () => resolve(), { once: true })
      }),
    arrive(...added) {
      arrived.push(...added)
      wake()
    },
    fence: () => (fenced = true),
    durable: () => events.slice(0, kept),
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

/** Answers with one turn after the other; a call beyond the last is an error. `cost`: dollars per call, null for unknown. */
export function scriptedModel(
  turns: readonly ScriptedTurn[],
  { clock, cost = 0, vision = true }: { clock: Clock; cost?: number | null; vision?: boolean },
): ScriptedModel {
  const requests: ModelRequest[] = []
  return {
    name: 'scripted/model',
    contextWindow: 200_000,
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
