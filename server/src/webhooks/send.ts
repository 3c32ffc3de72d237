import type { WebhookCall } from '@parley/contract/webhook-subscriptions'
import type { Clock } from '@parley/store/clock'
import type { Outbound } from '@parley/wire/outbound'
import { OutboundRefused } from '@parley/wire/refused'
import { type LogStore, record } from '../conversations/service.ts'
import type { Signer } from './sign.ts'
import type { Answered, DueRow, SubscriptionRow, WebhookStore } from './store.ts'

/* One call to one address. */

export interface SendParts {
  store: WebhookStore
  logs: Pick<LogStore, 'at'>
  sign: Signer
  clock: Clock
  fetch: Outbound['fetch']
}

const waitMs = 15_000
const [second, minute, hour] = [1_000, 60_000, 3_600_000]
/** After each failure; with the last one the delivery has failed, some three days after the first try. */
export const delaysMs: readonly number[] = [
  5 * second,
  5 * minute,
  30 * minute,
  2 * hour,
  5 * hour,
  10 * hour,
  14 * hour,
  20 * hour,
  24 * hour,
]
/** A delay is longer by up to this share, so that what failed together is not tried together. */
const jitter = 0.2
const longestRetryAfterMs = 24 * hour
/** Larger events are told without what is in them; whoever wants it asks for the event by its number. */
const largestEvent = 512 * 1024

export type Sent = Answered & { gone?: true }

/** Never rejects for what the receiver does; rejects with the signal's reason when it is called off. */
export async function send(parts: SendParts, to: SubscriptionRow, row: DueRow, signal: AbortSignal): Promise<Sent> {
  const call = await callFor(parts.logs, row)
  if (call === undefined) return { status: 'failed', response_status: null, error: 'The event is gone.', delayMs: null }
  const body = JSON.stringify(call)
  const headers = await parts.sign.headers(to, row.id, body)
  try {
    const request = { method: 'POST', headers, body, signal, redirects: 0, timeoutMs: waitMs }
    const response = await parts.fetch(to.url, request)
    await response.body?.cancel().catch(() => {})
    const { status } = response
    if (response.ok) return { status: 'delivered', response_status: status, error: null, delayMs: null }
    const answer = failed(row, `The address answered ${status}.`, status, retryAfterMs(response.headers, parts.clock))
    return status === 410 ? { ...answer, status: 'failed', delayMs: null, gone: true } : answer
  } catch (error) {
    if (signal.aborted) throw signal.reason
    return failed(row, why(error), null, 0)
  }
}

async function callFor(logs: SendParts['logs'], row: DueRow): Promise<WebhookCall | undefined> {
  const { type, created_at: timestamp, conversation_id, event_seq: seq } = row
  if (seq === null || conversation_id === null) return { type, timestamp, data: row.data }
  const event = await logs.at(conversation_id, seq)
  if (event === undefined) return undefined
  const { id, kind, source, at } = event
  const whole = event.body.length <= largestEvent
  const told = whole ? record(event) : { id, seq, timestamp: at, source, kind, parent_id: null, truncated: true }
  return { type, timestamp, data: { conversation_id, seq, event: told } }
}

function failed(row: DueRow, error: string, status: number | null, asked: number): Sent {
  const usual = delaysMs[row.attempts]
  if (usual === undefined) return { status: 'failed', response_status: status, error, delayMs: null }
  const delayMs = Math.max(usual * (1 + Math.random() * jitter), asked)
  return { status: 'pending', response_status: status, error, delayMs }
}

/** Seconds or a date, as the receiver asks; 0 when it does not. */
function retryAfterMs(headers: { get(name: string): string | null }, clock: Clock): number {
  const said = headers.get('retry-after')?.trim() ?? ''
  const ms = /^\d+$/.test(said) ? Number(said) * second : Date.parse(said) - clock.millis()
  return Number.isFinite(ms) ? Math.min(Math.max(ms, 0), longestRetryAfterMs) : 0
}

function why(error: unknown): string {
  if (error instanceof OutboundRefused && error.reason === 'not_http')
    return `The address did not answer: ${error.message}.`
  if (error instanceof OutboundRefused) return `The address was not called: ${error.message}.`
  if ((error as Error | null)?.name === 'TimeoutError') return 'The address did not answer within 15 s.'
  const cause = (error as { cause?: { code?: unknown } } | null)?.cause?.code
  return `The address could not be reached${typeof cause === 'string' ? ` (${cause})` : ''}.`
}
