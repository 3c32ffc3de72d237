import { Problem } from '@parley/contract/problems'
import type { Clock } from '@parley/store/clock'
import type { CallRequest } from '@parley/wire/serve'
import { sessionCookie } from '../access/cookie.ts'
import type { Audit } from '../audit/service.ts'
import type { Oidc, SsoPerson } from './oidc.ts'
import type { Users } from './service.ts'
import type { ssoCookies } from './sso-cookie.ts'
import type { UserRow, UserStore } from './store.ts'

/*
 * Signing in with the operator's identity provider. A person is known by the provider's subject; the first time by a
 * verified e-mail, which must be that of an account, or of a domain whose people may have one.
 */

export type Sso = ReturnType<typeof ssoService>

/** Where to send a browser, and the cookies it is to keep or to drop. */
export interface Redirect {
  location: string
  cookies: string[]
}

interface SsoParts {
  store: UserStore
  users: Users
  audit: Audit
  clock: Clock
  cookies: ReturnType<typeof ssoCookies>
  baseUrl: string
  /** Null: this server has no identity provider. */
  oidc: Oidc | null
  allowedDomains: readonly string[]
  log: (message: string, details: Record<string, unknown>) => void
}

type Refused = 'sso_failed' | 'sso_not_allowed'

export function ssoService({ store, users, audit, clock, cookies, baseUrl, oidc, allowedDomains, log }: SsoParts) {
  function provider(): Oidc {
    if (oidc === null) throw new Problem('not_found', 'This server has no identity provider.')
    return oidc
  }

  /** The account of a person; undefined for one who may have none. */
  async function accountOf({ subject, email, isVerified, name }: SsoPerson): Promise<UserRow | undefined> {
    const known = await store.bySubject(subject)
    if (known !== undefined || email === null || !isVerified) return known
    return store.transaction(async (rows) => {
      const domain = email.slice(email.lastIndexOf('@') + 1)
      if (allowedDomains.includes(domain)) await rows.insertMember(clock.id(), email)
      const row = await rows.byEmail(email)
      // An account is bound to the first subject that comes with its e-mail: an address may be given to another person.
      if (row === undefined || row.sso_subject !== null) return undefined
      return rows.update(row.id, { sso_subject: subject, name: row.name ?? name })
    })
  }

  async function refused(request: CallRequest, error: Refused, person: SsoPerson | undefined): Promise<Redirect> {
    await audit.note('sign_in.sso', request, { object: person?.email ?? null, outcome: error, user: null })
    return { location: `${baseUrl}/sign-in#error=${error}`, cookies: [cookies.taken] }
  }

  return {
    /** Sends the browser to the provider. */
    async start(returnTo: string): Promise<Redirect> {
      const { location, checks } = await provider()
        .start()
        .catch((error: unknown) => {
          if (error instanceof Problem) throw error
          throw new Problem('upstream_error', 'The identity provider cannot be reached.', {}, { cause: error })
        })
      return { location, cookies: [cookies.write({ ...checks, returnTo }, clock.millis())] }
    },

    /** Takes the browser back from the provider, signed in or not. */
    async finish(query: Record<string, unknown>, request: CallRequest): Promise<Redirect> {
      const from = provider()
      const kept = cookies.read(request.cookie(cookies.name), clock.millis())
      // A stranger's call: it costs the provider nothing and leaves no entry.
      if (kept === undefined) return { location: `${baseUrl}/sign-in#error=sso_failed`, cookies: [cookies.taken] }
      let person: SsoPerson
      try {
        person = await from.finish(searchOf(query), kept)
      } catch (error) {
        log('a sign-in at the identity provider failed', { err: error })
        return refused(request, 'sso_failed', undefined)
      }
      const row = await accountOf(person)
      if (row === undefined) return refused(request, 'sso_not_allowed', person)
      const { token, expiresAt } = await users.session(row)
      await audit.note('sign_in.sso', request, { object: person.email, outcome: 'ok', user: row.id })
      return {
        location: `${baseUrl}${kept.returnTo}`,
        cookies: [cookies.taken, sessionCookie(baseUrl, token, expiresAt)],
      }
    },
  }
}

const searchOf = (query: Record<string, unknown>): URLSearchParams =>
  new URLSearchParams(Object.entries(query).map(([name, value]): [string, string] => [name, String(value)]))
