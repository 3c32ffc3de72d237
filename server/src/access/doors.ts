import { Problem } from '@parley/contract/problems'
import type { Asked, Doors } from '@parley/wire/doors'
import { cookieName } from './cookie.ts'
import type { Lasting } from './lasting.ts'
import type { Access } from './service.ts'

/*
 * A key in a header is meant by whoever sends it. A cookie is sent by the browser whoever wrote the page, so it counts for a
 * change only when the request says that it comes from our own page.
 */

const harmless = new Set(['GET', 'HEAD', 'OPTIONS'])

/** Whether a browser says that a page of ours sent the request. */
function isOurs({ fetchSite, origin, host }: Asked, own: string): boolean {
  if (fetchSite !== undefined) return fetchSite === 'same-origin'
  return origin !== undefined && (origin === own || URL.parse(origin)?.host === host)
}

export function doorsOf(access: Access, lasting: Lasting, baseUrl: string): Doors {
  const own = new URL(baseUrl).origin
  const name = cookieName(baseUrl)
  return {
    identify(asked) {
      if (asked.key !== undefined) return access.identify(asked.key, asked.ip)
      const session = asked.cookie(name)
      const changes = asked.isSocket || !harmless.has(asked.method)
      if (session === undefined || (changes && !isOurs(asked, own))) throw new Problem('authentication_error')
      return access.identify(session, asked.ip)
    },
    watch: lasting.watch,
  }
}
