import { Problem } from '@parley/contract/problems'
import type { Doors } from '@parley/wire/doors'
import type { Access } from './service.ts'

/*
 * A key in a header is meant by whoever sends it. A cookie is sent by the browser whoever wrote the page, so it counts for a
 * change only when the request says that it comes from our own page.
 */

const harmless = new Set(['GET', 'HEAD', 'OPTIONS'])

/** `__Host-` binds the cookie to this very host, which browsers accept over https only. */
export const cookieName = (baseUrl: string): string =>
  baseUrl.startsWith('https:') ? '__Host-parley-session' : 'parley-session'

export function doorsOf(access: Access, baseUrl: string): Doors {
  const own = new URL(baseUrl).origin
  const name = cookieName(baseUrl)
  return {
    identify(asked) {
      if (asked.key !== undefined) return access.identify(asked.key)
      const session = asked.cookie(name)
      if (session === undefined) throw new Problem('authentication_error')
      const ours = asked.origin === own || (asked.origin === undefined && asked.fetchSite === 'same-origin')
      if (!harmless.has(asked.method) && !ours) throw new Problem('authentication_error')
      return access.identify(session)
    },
  }
}

/** Sets the cookie, or takes it back when there is no token. */
export function sessionCookie(baseUrl: string, token: string | null, expiresAt: string | null): string {
  const life = token === null || expiresAt === null ? 'Max-Age=0' : `Expires=${new Date(expiresAt).toUTCString()}`
  const secure = baseUrl.startsWith('https:') ? '; Secure' : ''
  return `${cookieName(baseUrl)}=${token ?? ''}; Path=/; HttpOnly; SameSite=Strict; ${life}${secure}`
}
