import { type Account, ForgeError, type ForgeResponse } from './forge.ts'

const LARGEST_ANSWER = 16 * 1024 * 1024

/**
 * The account's fetch as the forge libraries get it: it ends with the account's signal, reads at most 16 MiB, and rejects
 * with `ForgeError` unless the answer is 2xx.
 */
export function forgeFetch({ fetch, signal }: Account): typeof globalThis.fetch {
  return async (input, init = {}) => {
    const { method = 'GET', headers, body } = init
    try {
      const answer = await fetch(String(input), {
        method,
        headers: Object.fromEntries(new Headers(headers)),
        body: typeof body === 'string' ? body : null,
        redirect: 'manual',
        signal,
      })
      const bytes = await wholeBody(answer)
      if (!answer.ok) throw refused(answer)
      return new Response(answer.status === 204 ? null : bytes, { status: answer.status, headers: kept(answer) })
    } catch (error) {
      throw asForgeError(error, signal)
    }
  }
}

const gitlabs = ['x-next-page', 'x-page', 'x-per-page', 'x-total', 'x-total-pages']

/** What a library or a listing reads of an answer's headers; its encoding and length no longer hold. */
function kept({ headers }: ForgeResponse): Record<string, string> {
  const names = ['content-type', 'link', ...gitlabs, 'x-ausername', 'x-ms-continuationtoken']
  return Object.fromEntries(names.flatMap((name) => (headers.has(name) ? [[name, headers.get(name) ?? '']] : [])))
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

function refused({ status, headers }: ForgeResponse): ForgeError {
  if (status === 401) return new ForgeError('token_rejected', 'The forge rejected the token.')
  if (status === 404) return new ForgeError('not_found', 'The forge has nothing there.')
  const limited = status === 403 && (headers.has('retry-after') || headers.get('x-ratelimit-remaining') === '0')
  if (status === 429 || limited) {
    return new ForgeError('rate_limited', 'The forge asks to wait.', { retryAfter: waitOf(headers) })
  }
  if (status === 403) return new ForgeError('forbidden', 'The token may not do this at the forge.')
  return new ForgeError('failed', `The forge answered with status ${status}.`)
}

function waitOf(headers: ForgeResponse['headers']): number | null {
  const seconds = Number(headers.get('retry-after') ?? Number.NaN)
  if (Number.isFinite(seconds) && seconds >= 0) return Math.ceil(seconds)
  const reset = Number(headers.get('x-ratelimit-reset') ?? Number.NaN)
  return Number.isFinite(reset) ? Math.max(1, Math.ceil(reset - Date.now() / 1000)) : null
}

async function wholeBody(answer: ForgeResponse): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of answer.body ?? []) {
    size += chunk.byteLength
    if (size > LARGEST_ANSWER) throw new ForgeError('failed', 'The answer of the forge is too large.')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}
