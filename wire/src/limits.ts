import type { AnyEndpoint, Who } from '@parley/contract/endpoint'
import { Problem } from '@parley/contract/problems'

export type Bucket = 'read' | 'write' | 'start' | 'control'

export interface Taken {
  /** Value of `RateLimit-Policy`: every bucket, as in `"read";q=600;w=60, "write";q=120;w=60`. */
  policy: string
  remaining: number
  resetSeconds: number
  ok: boolean
}

export interface Limits {
  take(who: Who, bucket: Bucket): Taken | Promise<Taken>
}

export const bucketOf = (endpoint: AnyEndpoint): Bucket => {
  if (endpoint.access === 'sandboxes:control') return 'control'
  return endpoint.method === 'GET' ? 'read' : 'write'
}

/** Takes one from the caller's bucket and says what is left; Problem `quota_exceeded` when nothing was. */
export async function takeOne(limits: Limits, who: Who, bucket: Bucket): Promise<Record<string, string>> {
  const taken = await limits.take(who, bucket)
  const reset = Math.max(0, Math.ceil(taken.resetSeconds))
  const headers = {
    'ratelimit-policy': taken.policy,
    ratelimit: `"${bucket}";r=${Math.max(0, Math.floor(taken.remaining))};t=${reset}`,
  }
  if (taken.ok) return headers
  const members = { 'violated-policies': [bucket] }
  throw new Problem('quota_exceeded', undefined, { retryAfter: Math.max(1, reset), members, headers })
}
