import { api } from '@parley/contract/api'
import type { AnyEndpoint } from '@parley/contract/endpoint'
import { type ProblemBody, problems } from '@parley/contract/problems'
import { addressOf } from '@parley/wire/call'

/* Requests made from the table of endpoints alone, for promises that hold for all of them. */

export interface Named {
  /** As in the client: `conversations.get`. */
  name: string
  endpoint: AnyEndpoint
}

export const named: readonly Named[] = Object.entries(api).flatMap(([noun, endpoints]) =>
  Object.entries(endpoints).map(([verb, endpoint]) => ({ name: `${noun}.${verb}`, endpoint: endpoint as AnyEndpoint })),
)

export interface Answered {
  status: number
  headers: Headers
  text: string
  problem: ProblemBody
}

export interface Asked {
  params?: Record<string, unknown>
  query?: Record<string, unknown>
  headers?: Record<string, string>
  method?: string
  /** Instead of the endpoint's example. */
  body?: unknown
}

/** One request by hand. `problem` is what the body is when the status is 400 or more. */
export async function ask(url: string, { endpoint }: Named, key: string | null, asked: Asked = {}): Promise<Answered> {
  const method = asked.method ?? endpoint.method
  const body =
    endpoint.accepts === 'json' && !['GET', 'HEAD'].includes(method)
      ? JSON.stringify(asked.body ?? endpoint.example.body ?? {})
      : null
  const headers = {
    ...(key === null ? {} : { authorization: `Bearer ${key}` }),
    ...(body === null ? {} : { 'content-type': 'application/json' }),
    ...asked.headers,
  }
  const address = addressOf(url, endpoint.path, {
    params: asked.params ?? paramsOf(endpoint),
    query: asked.query ?? queryOf(endpoint),
  })
  const response = await fetch(address, {
    method,
    headers,
    body,
    redirect: 'error',
    signal: AbortSignal.timeout(20_000),
  })
  const endless = response.ok && endpoint.answer === 'sse'
  const text = endless ? '' : await response.text()
  if (endless) await response.body?.cancel()
  const problem = (response.ok || text === '' ? {} : JSON.parse(text)) as ProblemBody
  return { status: response.status, headers: response.headers, text, problem }
}

export const absentId = '0199f3c2-7a10-7c3e-9a51-2f0d6b1c8eff'

export const paramNames = ({ path }: AnyEndpoint): string[] =>
  [...path.matchAll(/\{(\w+)\}/g)].map((found) => found[1] ?? '')

/** An id that nothing has, in every place of the path. */
export const paramsOf = (endpoint: AnyEndpoint, id = absentId): Record<string, string> =>
  Object.fromEntries(paramNames(endpoint).map((name) => [name, id]))

/** What a query must have to be a query at all. */
export const queryOf = (endpoint: AnyEndpoint): Record<string, unknown> =>
  takesIds(endpoint) ? { ids: [absentId] } : {}

export const takesIds = (endpoint: AnyEndpoint): boolean => {
  const read = endpoint.query.safeParse({})
  return !read.success && read.error.issues.some((issue) => issue.path[0] === 'ids')
}

/** Codes that every endpoint can answer with. */
export const general: readonly string[] = [
  'malformed_request',
  'ambiguous_credentials',
  'authentication_error',
  'insufficient_scope',
  'method_not_allowed',
  'not_acceptable',
  'payload_too_large',
  'uri_too_long',
  'headers_too_large',
  'unsupported_media_type',
  'request_timeout',
  'validation_error',
  'quota_exceeded',
  'malformed_idempotency_key',
  'idempotency_in_progress',
  'idempotency_mismatch',
  'unavailable',
  'storage_full',
  'internal_error',
]

/** What a problem answer has wrong; empty when it is one of ours. */
export function flaws({ status, headers, problem }: Answered): string[] {
  const known = Object.hasOwn(problems, problem.code) ? problems[problem.code as keyof typeof problems] : undefined
  return [
    ...(known === undefined ? [`the code ${problem.code} is unknown`] : []),
    ...(known !== undefined && known[0] !== status ? [`${problem.code} has the status ${status}`] : []),
    ...(problem.status === status ? [] : ['the body says another status']),
    ...(typeof problem.detail === 'string' && problem.detail !== '' ? [] : ['detail is no text']),
    ...(problem.type?.startsWith('/problems/') ? [] : ['type is no problem type']),
    ...(problem.instance === `urn:request:${problem.request_id}` ? [] : ['instance does not name the request']),
    ...(headers.get('x-request-id') === problem.request_id ? [] : ['the header has another request id']),
    ...(headers.get('content-type')?.startsWith('application/problem+json') ? [] : ['the content type is wrong']),
  ]
}
