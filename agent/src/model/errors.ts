import { APICallError, JSONParseError, LoadAPIKeyError, NoSuchModelError, TypeValidationError } from '@ai-sdk/provider'
import { ModelError } from './model.ts'

type Kind = ModelError['kind']

interface Failure {
  status: number | null
  /** Codes, types and message as the provider gave them. */
  text: string
  retryAfterMs: number | null
}

/** A page instead of an answer is looked at so far: taking its tags out takes time that grows with the square. */
const longestPage = 20_000
const longestDetail = 4096

const overflow =
  /context[_ ]?(length|window)|maximum context|prompt is too long|too many (input )?tokens|input is too long|input token count .{0,40}exceed|exceed.{0,40}(context|maximum number of tokens)|reduce the length of the (messages|prompt|input)/i
/** A limit of the rate can speak of too many tokens too. */
const limited = /throttl|rate[_ ]?limit|too many requests|please wait/i
const spent =
  /insufficient[_ ]?(quota|funds|balance|credit)|billing|spend(ing)?[_ ]?limit|credit balance|current quota|hard[_ ]?limit|payment|out of credits/i
const unknownModel =
  /model[_ ]?not[_ ]?found|no such model|unknown model|model .{0,120}(does not|doesn't) exist|model .{0,120}not found|not a valid model|invalid model/i
const badKey =
  /invalid[_ ](x-)?api[_ -]?key|incorrect api key|authentication[_ ]error|unauthori[sz]ed|permission[_ ]error|api key not valid/i

/**
 * Any failure of a call as a `ModelError`.
 * @param hide removes the configuration's secrets from a text
 * @param now milliseconds since the epoch, for dates in `Retry-After`
 */
export function classify(error: unknown, hide: (text: string) => string, now: number): ModelError {
  if (error instanceof ModelError) {
    const { kind, status, retryAfterMs } = error
    return new ModelError(kind, hide(error.message).slice(0, longestDetail), { status, retryAfterMs })
  }
  const failure = read(error, now)
  const detail = hide(failure.text.trim() || 'The provider gave no reason.').slice(0, longestDetail)
  const facts = { status: failure.status, retryAfterMs: failure.retryAfterMs }
  return new ModelError(kindOf(failure, error), detail, facts)
}

function kindOf({ status, text, retryAfterMs }: Failure, error: unknown): Kind {
  if (isRefused(error) && error.reason !== 'too_large' && error.reason !== 'not_http') return 'config'
  if (LoadAPIKeyError.isInstance(error)) return 'auth'
  if (NoSuchModelError.isInstance(error)) return 'config'
  if (status === 401) return 'auth'
  if (status === 402) return 'quota'
  const refused = status === null || (status >= 400 && status < 500)
  if (refused && spent.test(text) && !(status === 429 && retryAfterMs !== null)) return 'quota'
  if (status === 403) return 'auth'
  if (refused && status !== 429 && !limited.test(text) && overflow.test(text)) return 'context_overflow'
  if (status === 404 || (refused && unknownModel.test(text))) return 'config'
  return status === null ? kindOfText(text) : kindOfStatus(status, text)
}

function kindOfStatus(status: number, text: string): Kind {
  if (status === 429) return 'rate_limit'
  if (status === 503 || status === 529) return 'overloaded'
  if (status >= 500) return /overloaded/i.test(text) ? 'overloaded' : 'transient'
  if (status === 408 || status === 409 || status === 425) return 'transient'
  if (status >= 400) return badKey.test(text) ? 'auth' : 'bad_request'
  return 'transient'
}

/** Errors that come inside a stream have no status. */
function kindOfText(text: string): Kind {
  if (/overloaded|503|529/i.test(text)) return 'overloaded'
  if (limited.test(text)) return 'rate_limit'
  if (badKey.test(text)) return 'auth'
  if (/invalid[_ ]request/i.test(text)) return 'bad_request'
  return 'transient'
}

function read(error: unknown, now: number): Failure {
  if (APICallError.isInstance(error)) {
    const status = error.statusCode ?? null
    const body = error.responseBody ?? ''
    const cut = status === 200 || status === null
    const text = cut ? reasons(error) : [error.message, ...words(body)].join(' — ')
    return { status: cut ? null : status, text, retryAfterMs: retryAfter(error.responseHeaders ?? {}, body, now) }
  }
  if (JSONParseError.isInstance(error) || TypeValidationError.isInstance(error))
    return { status: null, text: 'The provider sent an event that cannot be read.', retryAfterMs: null }
  if (isRefused(error))
    return { status: null, text: `The provider cannot be used: ${error.message}.`, retryAfterMs: null }
  if (error instanceof Error) return { status: null, text: reasons(error), retryAfterMs: null }
  return { status: null, text: words(error).join(' — ') || String(error), retryAfterMs: null }
}

/** The way out has its own words for an address that it does not dial and for an answer that is none. */
const isRefused = (error: unknown): error is Error & { reason: string } =>
  error instanceof Error && error.name === 'OutboundRefused' && 'reason' in error

/** A failed connection says why in its causes. */
function reasons(error: Error): string {
  const said: string[] = []
  for (let at: unknown = error; at instanceof Error && said.length < 5; at = at.cause) {
    const code = 'code' in at && typeof at.code === 'string' ? ` (${at.code})` : ''
    const last = said.at(-1)
    if (last?.endsWith(at.message)) said.splice(-1, 1, last + code)
    else if (!said.includes(at.message + code)) said.push(at.message + code)
  }
  return said.join(': ')
}

/** Codes, types and messages of a provider's error object, wherever it wraps them. */
function words(body: unknown): string[] {
  const value = typeof body === 'string' ? parsed(body) : body
  if (typeof value === 'string') return value === '' ? [] : [value.slice(0, longestDetail)]
  if (typeof value !== 'object' || value === null) return []
  const found = ['code', 'type', 'status', 'message', 'detail']
    .map((key) => (value as Record<string, unknown>)[key])
    .filter((word): word is string | number => typeof word === 'string' || typeof word === 'number')
    .map(String)
  const inner = 'error' in value ? words(value.error) : []
  return [...new Set([...inner, ...found])]
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
      .slice(0, longestPage)
      .replace(/<[^>]*>/g, ' ')
      .replace(/\s+/g, ' ')
      .trim()
  }
}

function retryAfter(headers: Record<string, string>, body: string, now: number): number | null {
  const exact = Number(headers['retry-after-ms'] ?? Number.NaN)
  if (Number.isFinite(exact)) return Math.max(0, exact)
  const after = headers['retry-after']
  if (after !== undefined) {
    const seconds = Number(after)
    const ms = Number.isFinite(seconds) ? seconds * 1000 : Date.parse(after) - now
    if (Number.isFinite(ms)) return Math.max(0, ms)
  }
  const inBody = /"retryDelay":\s*"(\d+(?:\.\d+)?)s"/.exec(body)
  return inBody === null ? null : Number(inBody[1]) * 1000
}
