import type { IncomingHttpHeaders } from 'node:http'
import type { Access, Scope, Who } from '@parley/contract/endpoint'
import { Problem } from '@parley/contract/problems'

/** What a request brings that may say who asks. */
export interface Asked {
  /** The one key of the request, from whichever header; undefined when there is none. */
  readonly key: string | undefined
  readonly authorization: string | undefined
  readonly accessToken: string | undefined
  readonly sessionKey: string | undefined
  /** Value of a cookie. */
  cookie(name: string): string | undefined
  readonly ip: string
  readonly origin: string | undefined
  /** The header `Host`. */
  readonly host: string | undefined
  /** `Sec-Fetch-Site`, which a browser sets and a page cannot. */
  readonly fetchSite: string | undefined
  readonly method: string
  /** A WebSocket carries changes although its method is GET, and browsers open it from any page. */
  readonly isSocket: boolean
}

export interface Doors {
  /** Who asks; `kind: 'nobody'` or a Problem when the credentials are missing or not good. */
  identify(asked: Asked): Promise<Who> | Who
  /**
   * Calls `end` when what let this caller in is no longer good; for calls that last. Gives a function that ends the watch.
   * Neither may throw.
   */
  watch?(who: Who, end: () => void): () => void
}

export const nobody: Who = { owner: '', kind: 'nobody', id: '', scopes: [] }

const one = (value: string | string[] | undefined) => (Array.isArray(value) ? value[0] : value)

const bearer = /^bearer(?:[ \t]+(.*))?$/i

/** The one key of a request; 400 when two headers bring different ones, 401 when a header brings an empty one. */
export function keyOf(headers: IncomingHttpHeaders): string | undefined {
  const authorization = headers.authorization === undefined ? null : bearer.exec(headers.authorization.trim())
  let key = authorization ? (authorization[1] ?? '').trim() : undefined
  for (const given of [one(headers['x-access-token']), one(headers['x-session-api-key'])]) {
    if (given === undefined) continue
    if (key !== undefined && key !== given.trim()) throw new Problem('ambiguous_credentials')
    key = given.trim()
  }
  if (key === '') throw new Problem('authentication_error')
  return key
}

/** Who may come in, or a Problem. An `open` endpoint does not look at credentials at all. */
export async function admit(
  doors: Doors,
  access: Access,
  asked: Omit<Asked, 'key'>,
  key: string | undefined,
): Promise<Who> {
  if (access === 'open') return nobody
  const who = await doors.identify({ ...asked, key })
  if (who.kind === 'nobody') throw new Problem('authentication_error')
  if (access === 'sandbox') return who
  // A sandbox's key opens its own few doors; on all others it is no key.
  if (who.kind === 'sandbox') throw new Problem('authentication_error')
  if (access !== 'user' && !who.scopes.includes(access satisfies Scope)) {
    throw new Problem('insufficient_scope', `The API key lacks the scope ${access}.`, { members: { scope: access } })
  }
  return who
}
