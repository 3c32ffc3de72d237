import type { Clock } from '@parley/store/clock'
import type { Log } from '../log.ts'
import { ModelError, type Model, type ModelRequest } from '../model/model.ts'
import { addPart, finishDraft, newDraft, type Answer } from './answer.ts'
import type { Policy } from './policy.ts'
import { orAborted, over } from './stop.ts'

export interface Attempt {
  model: Model
  request: ModelRequest
  policy: Policy
  clock: Clock
  /** Viewers get the pieces of the answer. */
  publish: Log['publish']
  /** Names the answer in deltas and events. */
  responseId: string
  attempt: number
}

export interface Heard {
  answer: Answer
  firstTokenMs: number | null
}

/** Streams one answer. Rejects with `ModelError` (a silent or cut stream is `transient`) or with the signal's reason. */
export async function ask(attempt: Attempt, signal: AbortSignal): Promise<Heard> {
  const own = new AbortController()
  const all = AbortSignal.any([signal, own.signal])
  const progress = { begun: attempt.clock.millis(), last: attempt.clock.millis(), heard: false }
  try {
    const read = readAll(attempt, progress, all)
    const late = watch(attempt, progress, own.signal)
    return await orAborted(Promise.race([read, late]), all)
  } finally {
    own.abort(over)
  }
}

interface Progress {
  begun: number
  last: number
  heard: boolean
}

/** Rejects when the first part, the next part or the whole answer is overdue. One timer at a time, not one per part. */
async function watch({ policy, clock }: Attempt, progress: Progress, signal: AbortSignal): Promise<never> {
  for (;;) {
    const silence = progress.last + (progress.heard ? policy.idleMs : policy.firstByteMs)
    const due = Math.min(silence, progress.begun + policy.timeoutMs)
    const left = due - clock.millis()
    if (left <= 0) throw new ModelError('transient', overdue(policy, progress, due === silence))
    // The first part may come meanwhile and shorten the patience.
    await clock.sleep(Math.min(left, policy.idleMs), signal)
  }
}

function overdue(policy: Policy, progress: Progress, silent: boolean): string {
  if (!silent) return `The model's answer was not complete after ${policy.timeoutMs / 1000} s.`
  if (!progress.heard) return `The model did not begin to answer within ${policy.firstByteMs / 1000} s.`
  return `The model stopped in the middle of its answer for ${policy.idleMs / 1000} s.`
}

async function readAll(attempt: Attempt, progress: Progress, signal: AbortSignal): Promise<Heard> {
  const draft = newDraft()
  const stream = { response_id: attempt.responseId, attempt: attempt.attempt }
  let firstTokenMs: number | null = null
  for await (const part of attempt.model.stream(attempt.request, signal)) {
    if (signal.aborted) throw signal.reason
    progress.last = attempt.clock.millis()
    firstTokenMs ??= progress.last - progress.begun
    progress.heard = true
    if (part.type === 'finish') return { answer: finishDraft(draft, part), firstTokenMs }
    addPart(draft, part, attempt.publish, stream)
  }
  throw new ModelError('transient', 'The answer of the model was cut off before its end.')
}
