import type { AnyEndpoint } from '@parley/contract/endpoint'
import { Problem } from '@parley/contract/problems'
import { encoder, etagOf } from './answer.ts'
import type { CallRequest } from './serve.ts'

/** Whether something is still as the caller has seen it. */
export type Unchanged<T> = (now: T | undefined) => void

/**
 * The check that `If-Match` asks for; without that header nothing is checked. Call it with what `read` would answer now
 * (undefined: there is nothing), where nobody else can change it until the change is made. Throws `precondition_failed`.
 */
export function unchanged<T>(request: CallRequest, read: AnyEndpoint): Unchanged<T> {
  const header = request.header('if-match')
  return (now) => {
    if (header === undefined) return
    const tags = header.split(',').map((tag) => tag.trim())
    // Strongly compared, as RFC 9110 wants it here: a weak tag never matches.
    const etag = now === undefined ? undefined : etagOf(encoder(read)(now))
    if (etag !== undefined && (tags.includes('*') || tags.includes(etag))) return
    throw new Problem('precondition_failed', 'It has changed since it was read. Read it again and repeat the change.')
  }
}
