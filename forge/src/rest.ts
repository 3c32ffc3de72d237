import { json } from './answers.ts'
import { type Account, ForgeError } from './forge.ts'
import { forgeFetch } from './http.ts'

type Query = Record<string, string | number>

export interface Told<T> {
  data: T
  headers: Headers
}

export type Rest = ReturnType<typeof rest>

/**
 * A forge's interface below `base`, in JSON. Each value of a path is one segment of it: `ask.get(['projects', key])`. The types
 * of answers are what its documentation says, and nobody has checked them: read with `said` what must be there.
 */
export function rest(account: Account, base: string, headers: Record<string, string>) {
  const send = forgeFetch(account)
  async function call<T>(method: string, path: string[], query: Query, body?: unknown): Promise<Told<T>> {
    const asked = new URLSearchParams(query as Record<string, string>).toString()
    const url = `${base}/${path.map(encodeURIComponent).join('/')}${asked === '' ? '' : `?${asked}`}`
    const answer = await send(url, {
      method,
      headers: { accept: 'application/json', 'content-type': 'application/json', ...headers },
      body: body === undefined ? null : JSON.stringify(body),
    })
    return { data: (await parsed(answer)) as T, headers: answer.headers }
  }
  return {
    get: <T>(path: string[], query: Query = {}) => call<T>('GET', path, query),
    post: <T>(path: string[], body: unknown, query: Query = {}) => call<T>('POST', path, query, body),
  }
}

/** The parsed body; rejects with `ForgeError` when it is no JSON object or list. */
export async function parsed(answer: Response): Promise<Record<string, unknown>> {
  try {
    return json((await answer.json()) as Record<string, unknown>)
  } catch (error) {
    throw new ForgeError('failed', 'The forge gave an answer that is no JSON.', { cause: error })
  }
}

export const basic = (username: string, password: string): string =>
  `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`

/** A token with a colon is a name and a password; any other stands alone. */
export function halves(token: string): { username: string | null; password: string } {
  const colon = token.indexOf(':')
  return colon < 0
    ? { username: null, password: token }
    : { username: token.slice(0, colon), password: token.slice(colon + 1) }
}

/** The header for such a token; none without one. */
export function authorization(token: string | null): Record<string, string> {
  if (token === null) return {}
  const { username, password } = halves(token)
  return { authorization: username === null ? `Bearer ${password}` : basic(username, password) }
}
