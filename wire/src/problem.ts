import { Problem, type ProblemBody, problems, problemType } from '@parley/contract/problems'

/** What of a log the edge needs; pino has it. */
export interface Log {
  error(fields: object, message: string): void
  warn(fields: object, message: string): void
  info(fields: object, message: string): void
}

/** `application/problem+json` of a problem. */
export function problemBody(problem: Problem, requestId: string): ProblemBody {
  const body: ProblemBody = {
    ...problem.extra.members,
    type: problemType(problem.code),
    title: problems[problem.code][1],
    status: problem.status,
    detail: problem.detail,
    instance: `urn:request:${requestId}`,
    code: problem.code,
    request_id: requestId,
  }
  if (problem.extra.errors) body.errors = problem.extra.errors
  return body
}

/** Headers that a problem brings along. */
export function problemHeaders(problem: Problem): Record<string, string> {
  const headers: Record<string, string> = { 'content-type': 'application/problem+json', 'cache-control': 'no-store' }
  if (problem.status === 401) headers['www-authenticate'] = 'Bearer'
  const retryAfter = problem.extra.retryAfter ?? (problem.status === 503 ? 5 : undefined)
  if (retryAfter !== undefined) headers['retry-after'] = String(Math.max(1, Math.ceil(retryAfter)))
  return { ...headers, ...problem.extra.headers }
}

/** What the HTTP library can complain about, in our codes. Everything else that is no Problem is our own bug. */
const known: Record<string, Problem['code']> = {
  FST_ERR_BAD_URL: 'malformed_request',
  FST_ERR_CTP_BODY_TOO_LARGE: 'payload_too_large',
  FST_ERR_CTP_EMPTY_TYPE: 'unsupported_media_type',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'unsupported_media_type',
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'malformed_request',
  FST_ERR_MAX_PARAM_LENGTH: 'uri_too_long',
  FST_ERR_PARAM_MAX_LENGTH: 'uri_too_long',
  ECONNRESET: 'malformed_request',
  ERR_HTTP_REQUEST_TIMEOUT: 'request_timeout',
}

const codeOf = (error: unknown) =>
  typeof error === 'object' && error !== null && 'code' in error && typeof error.code === 'string' ? error.code : ''

/** The problem of anything thrown. A bug is logged here, once, with its stack; the caller sees the request's id only. */
export function toProblem(error: unknown, log: Log, context: object): Problem {
  if (error instanceof Problem) {
    if (error.status >= 500) log.warn({ ...context, code: error.code, err: error.cause }, error.detail)
    return error
  }
  const code = known[codeOf(error)]
  if (code) return new Problem(code, undefined, {}, { cause: error })
  log.error({ ...context, err: error }, 'request failed')
  return new Problem('internal_error', undefined, {}, { cause: error })
}
