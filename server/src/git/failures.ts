import { Problem } from '@parley/contract/problems'
import { ForgeError } from '@parley/forge/forge'

/** Does `work`; what a forge refuses becomes the problem that the caller sees. */
export async function atForge<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw error instanceof ForgeError ? problemOf(error) : error
  }
}

function problemOf(error: ForgeError): Problem {
  const { failure, message, retryAfter } = error
  const because = { cause: error }
  switch (failure) {
    case 'token_rejected':
      return new Problem('forge_token_rejected', undefined, {}, because)
    case 'forbidden':
      return new Problem('forge_token_rejected', message, {}, because)
    case 'not_found':
      return new Problem('repository_not_accessible', undefined, {}, because)
    case 'not_offered':
      return new Problem('not_offered', message, {}, because)
    case 'rate_limited':
      return new Problem('unavailable', message, { retryAfter: retryAfter ?? 60 }, because)
    case 'timed_out':
      return new Problem('upstream_timeout', message, {}, because)
    case 'failed':
      return new Problem('upstream_error', message, {}, because)
    default:
      return failure satisfies never
  }
}
