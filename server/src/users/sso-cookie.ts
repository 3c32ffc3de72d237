import { createHmac, createSecretKey, hkdfSync, timingSafeEqual } from 'node:crypto'
import { type CookieOptions, cookieText } from '@parley/wire/passage'
import { z } from 'zod'

/*
 * What a sign-in at the provider must bring back, kept in the browser that began it, so that nobody can make another browser
 * end it. Signed, so that it is what we wrote; short, so that an old one is of no use. `Lax`, since the way back comes from
 * another site.
 */

const Kept = z.object({
  state: z.string(),
  nonce: z.string(),
  verifier: z.string(),
  returnTo: z.string(),
  until: z.number(),
})
export type Kept = z.infer<typeof Kept>

const lifeSeconds = 600

export function ssoCookies({ secret, baseUrl }: { secret: Buffer; baseUrl: string }) {
  const key = createSecretKey(Buffer.from(hkdfSync('sha256', secret, '', 'parley sso cookie', 32)))
  const secure = baseUrl.startsWith('https:')
  const name = secure ? '__Host-parley-sso' : 'parley-sso'
  const options: CookieOptions = { path: '/', httpOnly: true, sameSite: 'lax', secure }
  const sign = (body: string): Buffer => createHmac('sha256', key).update(body).digest()

  return {
    name,
    taken: cookieText(name, '', { ...options, maxAge: 0 }),

    write(kept: Omit<Kept, 'until'>, now: number): string {
      const body = Buffer.from(JSON.stringify({ ...kept, until: now + lifeSeconds * 1_000 })).toString('base64url')
      return cookieText(name, `${body}.${sign(body).toString('base64url')}`, { ...options, maxAge: lifeSeconds })
    },

    /** Undefined when we did not write this, or too long ago. */
    read(text: string | undefined, now: number): Kept | undefined {
      const [body = '', mac = ''] = (text ?? '').split('.')
      const [given, right] = [Buffer.from(mac, 'base64url'), sign(body)]
      if (given.length !== right.length || !timingSafeEqual(given, right)) return undefined
      const kept = Kept.safeParse(JSON.parse(Buffer.from(body, 'base64url').toString()))
      return kept.success && kept.data.until > now ? kept.data : undefined
    },
  }
}
