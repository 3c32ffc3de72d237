import { setTimeout as sleep } from 'node:timers/promises'
import { Problem } from '@parley/contract/problems'
import { startEnded, type StartTask } from '@parley/contract/start-tasks'
import type { Parley } from './client.ts'

/*
 * What takes time, watched until it is there: a start until it is READY, a conversation event by event. Connections may
 * break; what is yielded has neither gap nor duplicate.
 */

export interface WaitOptions {
  signal?: AbortSignal
  /** Between two looks when the start is polled. */
  pollMs?: number
  /** Called at each change of status. */
  changed?: (task: StartTask) => void
}

type StartBody = Parameters<Parley['conversations']['start']>[0] extends infer I
  ? NonNullable<I> extends { body?: infer B }
    ? B
    : never
  : never

/** Starts a conversation and waits until it is READY. Rejects with an `Error` that has the task's detail when it fails. */
export async function start(client: Parley, body: StartBody, options: WaitOptions = {}): Promise<StartTask> {
  const signal = options.signal ? { signal: options.signal } : {}
  let last: StartTask | undefined
  try {
    for await (const task of await client.conversations.streamStart({ body: body ?? {} }, signal)) {
      last = task
      options.changed?.(task)
    }
  } catch (error) {
    // Before the first element nothing has begun; after it the start goes on without us.
    if (!last || !isPassing(error)) throw error
  }
  if (!last) throw new Error('the start ended without a word')
  return startEnded(last.status) ? ended(last) : started(client, last.id, options)
}

/** Waits until a start task is READY. Rejects when it ends in ERROR. */
export async function started(client: Parley, taskId: string, options: WaitOptions = {}): Promise<StartTask> {
  let status: string | undefined
  for (;;) {
    const [task] = await client.startTasks.getMany({ query: { ids: [taskId] } })
    if (!task) throw new Problem('not_found', 'There is no such start task.')
    if (task.status !== status) options.changed?.(task)
    status = task.status
    if (startEnded(task.status)) return ended(task)
    await sleep(options.pollMs ?? 1000, undefined, options.signal ? { signal: options.signal } : {})
  }
}

function ended(task: StartTask): StartTask {
  if (task.status === 'ERROR') throw new Error(task.detail ?? 'the start failed')
  return task
}

/** An event as it travels: stored ones have a `seq`, live ones have none. */
export interface FollowedEvent {
  kind: string
  seq?: number
  [field: string]: unknown
}

export interface FollowOptions {
  signal?: AbortSignal
  /** Yields what comes after this number; 0, the default, is the whole log. */
  afterSeq?: number
  /** Also yields what is not stored: text as it is written, output as it appears. */
  live?: boolean
  /** First pause before a broken connection is made again; it doubles up to 10 s. */
  retryMs?: number
}

/** The events of a conversation, in order, until the signal aborts. Rejects with problems that will not pass. */
export async function* follow(
  client: Parley,
  conversationId: string,
  { signal, afterSeq = 0, live = false, retryMs = 500 }: FollowOptions = {},
): AsyncGenerator<FollowedEvent> {
  let last = afterSeq
  let pause = retryMs
  const withSignal = signal ? { signal } : {}
  while (!signal?.aborted) {
    try {
      const input = { params: { id: conversationId }, query: { after_seq: last } }
      for await (const { data } of await client.events.stream(input, withSignal)) {
        const event = data as FollowedEvent
        if (event.seq === undefined) {
          if (live) yield event
          continue
        }
        if (event.seq <= last) continue
        // Something is missing between: ask again from where we are.
        if (event.seq > last + 1) break
        last = event.seq
        pause = retryMs
        yield event
      }
    } catch (error) {
      if (signal?.aborted) return
      if (!isPassing(error)) throw error
      pause = Math.max(pause, 1000 * (error instanceof Problem ? (error.extra.retryAfter ?? 0) : 0))
    }
    await sleep(pause, undefined, withSignal).catch(() => undefined)
    pause = Math.min(2 * pause, 10_000)
  }
}

/** True when asking again may help: the server is away, busy, or the connection broke. */
function isPassing(error: unknown): boolean {
  if (!(error instanceof Problem)) return error instanceof Error && error.name !== 'AbortError'
  return error.status >= 500 ? error.code !== 'internal_error' : error.status === 408 || error.status === 429
}
