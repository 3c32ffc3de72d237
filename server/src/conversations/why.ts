import { defaultPolicy } from '@parley/agent/loop/policy'
import type { Why } from '@parley/contract/conversation-insight'
import type { LogEvent } from '@parley/contract/events'
import type { SandboxStatus } from '@parley/contract/sandboxes'
import type { Whole } from './store.ts'

/*
 * What a conversation waits for, as its row, its sandbox and its last events say it. A sandbox that cannot be worked in goes
 * before everything else.
 */

export type Reason = Omit<Why, 'execution_status' | 'sandbox_status'>

export interface Seen {
  row: Pick<Whole, 'execution_status' | 'status_reason' | 'wanted_seq' | 'updated_at'>
  sandbox: SandboxStatus
  /** What was said of the last change of its status. */
  sandboxDetail: string | null
  /** When its files were last saved outside the sandbox. */
  savedAt: string | null
  /** The end of the log, oldest first. */
  events: readonly LogEvent[]
}

type Action = Extract<LogEvent, { kind: 'ActionEvent' }>

export function whyOf(seen: Seen): Reason {
  const { row, sandbox, events, savedAt } = seen
  const since = events.at(-1)?.timestamp ?? row.updated_at
  const because = (waits_for: Reason['waits_for'], detail: string, more: Partial<Reason> = {}): Reason => ({
    waits_for,
    detail,
    since,
    until: null,
    next: null,
    event_id: null,
    ...more,
  })
  if (sandbox === 'STARTING')
    return because('sandbox', 'The sandbox is starting.', { next: 'The agent goes on when it runs.' })
  const why = seen.sandboxDetail === null ? '' : ` ${seen.sandboxDetail}`
  const kept = savedAt === null ? '' : ` Its files are kept as they were at ${savedAt}: fork the conversation to go on.`
  if (sandbox === 'ERROR') return because('sandbox', `The sandbox has failed and cannot be used again.${why}${kept}`)
  if (sandbox === 'MISSING')
    return because(
      'nothing',
      kept ? `The sandbox is gone.${kept}` : 'The sandbox is gone; the conversation can only be read.',
    )
  const working = row.execution_status === 'running' ? busy(seen, because) : undefined
  return working ?? atRest(seen, because)
}

type Because = (waits_for: Reason['waits_for'], detail: string, more?: Partial<Reason>) => Reason

function busy({ sandbox, sandboxDetail, events }: Seen, because: Because): Reason {
  if (sandbox === 'PAUSED')
    return because('sandbox', sandboxDetail ?? 'The sandbox is paused.', { next: 'It is resumed for the run.' })
  const last = events.at(-1)
  if (last?.kind === 'LLMRetryEvent')
    return because('model_retry', `The model failed: ${last.reason}`, {
      event_id: last.id,
      until: later(last.timestamp, last.delay_ms),
      next: 'The model is asked again.',
    })
  const tool = openActions(events)[0]
  if (tool !== undefined)
    return because('tool', `The tool ${tool.tool_name} is at work.`, { event_id: tool.id, since: tool.timestamp })
  const until = last === undefined ? null : later(last.timestamp, defaultPolicy.timeoutMs)
  return because('model', 'The model has not answered yet.', { until, next: 'The call is given up and tried again.' })
}

function atRest({ row, sandbox, sandboxDetail, events }: Seen, because: Because): Reason {
  const paused = sandbox === 'PAUSED' && sandboxDetail !== null ? ` ${sandboxDetail}` : ''
  switch (row.execution_status) {
    case 'waiting_for_confirmation': {
      const [action] = openActions(events)
      const what = action === undefined ? 'Actions' : `The action of ${action.tool_name}`
      return because('confirmation', `${what} may run when somebody accepts.`, { event_id: action?.id ?? null })
    }
    case 'finished':
      return because('nothing', `The work is finished.${paused} A message makes the agent go on.`)
    case 'error':
      return afterError({ row, events }, because)
    case 'stuck':
      return because('user', row.status_reason?.detail ?? 'The agent repeats itself. A message makes it go on.')
    case 'deleting':
      return because('nothing', 'The conversation is being deleted.')
    default:
      if (isAsked({ row, events })) return because('worker', 'A run is asked for.', { next: 'A worker takes it up.' })
      return because('user', restText(row.execution_status, sandbox, sandboxDetail))
  }
}

function restText(status: Whole['execution_status'], sandbox: SandboxStatus, detail: string | null): string {
  if (sandbox === 'PAUSED') return `${detail ?? 'The sandbox is paused.'} A message that asks for a run resumes it.`
  return status === 'paused' ? 'The agent is paused until somebody lets it run.' : 'The agent waits for a message.'
}

/** A failure says itself whether only a change of settings mends it. */
function afterError({ row, events }: Pick<Seen, 'row' | 'events'>, because: Because): Reason {
  const { status_reason: reason } = row
  const detail = reason?.detail ?? 'The run has failed. A message makes the agent try again.'
  const failed = events.findLast((event) => event.kind === 'ConversationErrorEvent')
  const more = { ...(reason === null ? {} : { since: reason.at }), event_id: failed?.id ?? null }
  if (/budget/i.test(reason?.code ?? '')) return because('budget', detail, more)
  return because(failed?.classification?.user_action === 'settings' ? 'settings' : 'user', detail, more)
}

/** Somebody has asked for a run, and no run has begun since. */
function isAsked({ row, events }: Pick<Seen, 'row' | 'events'>): boolean {
  if (row.wanted_seq === 0) return false
  const begun = events.some((event) => event.seq > row.wanted_seq && event.source !== 'user')
  return !begun && (events[0]?.seq ?? 0) <= row.wanted_seq
}

function openActions(events: readonly LogEvent[]): Action[] {
  const open = new Map<string, Action>()
  for (const event of events) {
    if (event.kind === 'ActionEvent' && event.action !== null) open.set(event.tool_call_id, event)
    else if ('tool_call_id' in event && event.kind !== 'ActionEvent') open.delete(event.tool_call_id)
  }
  return [...open.values()]
}

const later = (at: string, ms: number): string => new Date(Date.parse(at) + ms).toISOString()
