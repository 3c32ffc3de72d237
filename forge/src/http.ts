import { type Account, ForgeError } from './forge.ts'

const LARGEST_ANSWER = 16 * 1024 * 1024
const MOST_REDIRECTS = 3

/**
 * The account's fetch as the forge libraries get it: it ends with the account's signal, follows redirects only on the
 * forge's own origin (a renamed repository), reads at most 16 MiB, and rejects with `ForgeError` unless the answer is 2xx.
 */
export function forgeFetch({ fetch, signal }: Account): typeof globalThis.fetch {
  return async (input, init = {}) => {
    try {
      const answer = await follow(fetch, String(input), { ...init, signal })
      if (!answer.ok) throw refused(answer)
      return new Response(answer.status === 204 ? null : await wholeBody(answer), {
        status: answer.status,
        headers: answer.headers,
      })
    } catch (error) {
      throw asForgeError(error, signal)
    }
  }
}

/** The `ForgeError` behind what a library threw; the signal's reason when the work was called off. */
export function asForgeError(error: unknown, signal: AbortSignal): unknown {
  if (error instanceof ForgeError) return error
  if (error instanceof Error && error.cause instanceof ForgeError) return error.cause
  if (signal.aborted) {
    const late = signal.reason instanceof DOMException && signal.reason.name === 'TimeoutError'
    return late ? new ForgeError('timed_out', 'The forge did not answer in time.') : signal.reason
  }
  return new ForgeError('failed', 'The forge could not be reached.', { cause: error })
}

async function follow(fetch: Account['fetch'], first: string, init: RequestInit): Promise<Response> {
  let url = first
  for (let hop = 0; hop <= MOST_REDIRECTS; hop++) {
    const answer = await fetch(url, { ...init, redirect: 'manual' })
    const location = answer.headers.get('location')
    if (answer.status < 300 || answer.status > 399 || location === null) return answer
    await answer.body?.cancel()
    const next = new URL(location, url)
    if (next.origin !== new URL(url).origin) throw new ForgeError('failed', 'The forge redirects to another host.')
    if ((init.method ?? 'GET') !== 'GET') throw new ForgeError('failed', 'The forge redirects a request that writes.')
    url = next.href
  }
  throw new ForgeError('failed', 'The forge redirects without end.')
}

function refused({ status, headers }: Response): ForgeError {
  if (status === 401) return new ForgeError('token_rejected', 'The forge rejected the token.')
  if (status === 404) return new ForgeError('not_found', 'The forge has nothing there.')
  const limited = status === 403 && (headers.has('retry-after') || headers.get('x-ratelimit-remaining') === '0')
  if (status === 429 || limited) {
    return new ForgeError('rate_limited', 'The forge asks to wait.', { retryAfter: waitOf(headers) })
  }
  if (status === 403) return new ForgeError('forbidden', 'The token may not do this at the forge.')
  return new ForgeError('failed', `The forge answered with status ${status}.`)
}

function waitOf(headers: Headers): number | null {
  const seconds = Number(headers.get('retry-after') ?? Number.NaN)
  if (Number.isFinite(seconds) && seconds >= 0) return Math.ceil(seconds)
  const reset = Number(headers.get('x-ratelimit-reset') ?? Number.NaN)
  return Number.isFinite(reset) ? Math.max(1, Math.ceil(reset - Date.now() / 1000)) : null
}

async function wholeBody(answer: Response): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of answer.body ?? []) {
    size += chunk.byteLength
    if (size > LARGEST_ANSWER) throw new ForgeError('failed', 'The answer of the forge is too large.')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}
