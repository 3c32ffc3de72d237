import { z } from 'zod'
import { described } from './described.ts'

/** Every way a request can fail, once. A code is a promise: never renamed, never reused. */
export const problems = {
  malformed_request: [400, 'The request could not be read.'],
  malformed_id: [400, 'An id in the request is not a UUID.'],
  malformed_page_id: [400, 'The page id was not issued for this query.'],
  too_many_ids: [400, 'Too many ids were sent.'],
  ambiguous_credentials: [400, 'Two different API keys were sent.'],
  malformed_idempotency_key: [400, 'The idempotency key is malformed.'],
  secret_name_taken: [400, 'Another secret has this name.'],
  not_offered: [400, 'The forge does not offer this.'],
  sort_order_without_query: [400, 'A sort order needs a query.'],
  authentication_error: [401, 'No valid API key was sent.'],
  sign_in_failed: [401, 'E-mail and password do not match.'],
  insufficient_scope: [403, 'The API key lacks a scope.'],
  repository_not_accessible: [403, 'The repository does not exist or cannot be reached with the connected account.'],
  forge_not_connected: [403, 'No forge of this kind is connected.'],
  forge_token_rejected: [403, 'The forge rejected the token.'],
  processor_not_allowed: [403, 'The processor needs a connection that the caller owns.'],
  not_found: [404, 'There is nothing here.'],
  settings_not_found: [404, 'No settings are stored yet.'],
  method_not_allowed: [405, 'The method is not allowed here.'],
  not_acceptable: [406, 'The answer has no form that the Accept header allows.'],
  request_timeout: [408, 'The request took too long to arrive.'],
  state_conflict: [409, 'The state of the resource does not allow this.'],
  conversation_exists: [409, 'A conversation with this id exists.'],
  idempotency_in_progress: [409, 'The first request with this idempotency key still runs.'],
  gone: [410, 'The resource is gone.'],
  precondition_failed: [412, 'The resource has changed.'],
  payload_too_large: [413, 'The body is too large.'],
  uri_too_long: [414, 'The address is too long.'],
  unsupported_media_type: [415, 'The media type of the body is not supported.'],
  validation_error: [422, 'The request does not fit its schema.'],
  idempotency_mismatch: [422, 'The idempotency key was used with another request.'],
  precondition_required: [428, 'The request needs an If-Match header.'],
  quota_exceeded: [429, 'Too many requests.'],
  too_many_pending_messages: [429, 'Too many messages wait for this conversation.'],
  headers_too_large: [431, 'The headers are too large.'],
  internal_error: [500, 'The service failed; its log has the cause.'],
  upstream_error: [502, 'A service that Parley depends on failed.'],
  unavailable: [503, 'The service is not available now.'],
  storage_full: [503, 'The storage is full.'],
  capacity: [503, 'No sandbox can be had now.'],
  sandbox_error: [503, 'The sandbox has failed.'],
  upstream_timeout: [504, 'A service that Parley depends on did not answer in time.'],
} as const satisfies Record<string, readonly [status: number, title: string]>

export type ProblemCode = keyof typeof problems

/** One thing that is wrong with the request: where (JSON pointer and path) and what. */
export interface ProblemError {
  pointer: string
  loc: (string | number)[]
  msg: string
  type: string
}

export interface ProblemExtra {
  errors?: ProblemError[]
  /** Sent as the header Retry-After, in whole seconds. */
  retryAfter?: number
  /** Further members of the problem body, such as `current_state`. */
  members?: Record<string, unknown>
  /** Further response headers, such as `Allow`. */
  headers?: Record<string, string>
}

/** The one error a caller may see. `detail` is safe to show; `cause` stays in the log. */
export class Problem extends Error {
  override name = 'Problem'
  readonly code: ProblemCode
  readonly detail: string
  readonly extra: ProblemExtra

  constructor(code: ProblemCode, detail?: string, extra: ProblemExtra = {}, options?: ErrorOptions) {
    super(detail ?? problems[code][1], options)
    this.code = code
    this.detail = detail ?? problems[code][1]
    this.extra = extra
  }

  get status(): number {
    return problems[this.code][0]
  }
}

/** JSON pointer (RFC 6901) to what stands at `path`. */
export const pointerTo = (path: readonly (string | number)[]): string =>
  path.map((key) => `/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')

/** A body that reads well, with a value at `path` that cannot be taken. */
export const wrongValue = (path: readonly (string | number)[], msg: string): Problem =>
  new Problem('validation_error', `${path.join('.')} ${msg}`, {
    errors: [{ pointer: pointerTo(path), loc: ['body', ...path], msg, type: 'value_error' }],
  })

/** `application/problem+json` (RFC 9457) as we send it. */
export const ProblemBody = z
  .looseObject(
    described(
      {
        type: z.string(),
        title: z.string(),
        status: z.int(),
        detail: z.string(),
        instance: z.string(),
        code: z.string(),
        request_id: z.string(),
        errors: z
          .array(
            z.object({
              pointer: z.string().meta({ description: 'JSON pointer into the body.' }),
              loc: z
                .array(z.union([z.string(), z.number()]))
                .meta({ description: 'The same as a path, from `body`, `query` or `path`.' }),
              msg: z.string().meta({ description: 'What is wrong there.' }),
              type: z.string().meta({ description: 'The kind of fault.' }),
            }),
          )
          .optional(),
      },
      {
        type: 'Names the kind as an address.',
        title: 'The kind in words, always the same for one code.',
        status: 'The HTTP status.',
        detail: 'What is wrong with this very request.',
        instance: 'Names the request: `urn:request:` and its id.',
        code: 'The kind, for programs; never renamed.',
        request_id: 'To be named when one asks for help.',
        errors: 'What of the request is wrong, place by place.',
      },
    ),
  )
  .meta({ id: 'Problem' })
export type ProblemBody = z.infer<typeof ProblemBody>

/** The seed names one problem type for bad keys and for repositories that cannot be reached. */
const types: Partial<Record<ProblemCode, string>> = { repository_not_accessible: '/problems/authentication-error' }

export const problemType = (code: ProblemCode): string => types[code] ?? `/problems/${code.replaceAll('_', '-')}`
