/** `__Host-` binds the cookie to this very host, which browsers accept over https only. */
export const cookieName = (baseUrl: string): string =>
  baseUrl.startsWith('https:') ? '__Host-parley-session' : 'parley-session'

/** Sets the cookie, or takes it back when there is no token. */
export function sessionCookie(baseUrl: string, token: string | null, expiresAt: string | null): string {
  const life = token === null || expiresAt === null ? 'Max-Age=0' : `Expires=${new Date(expiresAt).toUTCString()}`
  const secure = baseUrl.startsWith('https:') ? '; Secure' : ''
  return `${cookieName(baseUrl)}=${token ?? ''}; Path=/; HttpOnly; SameSite=Strict; ${life}${secure}`
}
