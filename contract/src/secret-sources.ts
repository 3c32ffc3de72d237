import { z } from 'zod'
import { ExtraHeaders, WebAddress } from './text.ts'

/* Where the value of a secret comes from: it is said, or it is fetched when a command needs it. */

const value = z.string().max(65_536)
const description = z.string().max(1000).nullable().default(null)

export const StaticSecret = z
  .object({ kind: z.literal('StaticSecret'), value, description })
  .meta({ id: 'StaticSecret' })

/** The answer to a GET of `url` with `headers` is the value: for tokens that live shorter than a conversation. */
export const LookupSecret = z
  .object({ kind: z.literal('LookupSecret'), url: WebAddress, headers: ExtraHeaders.default({}), description })
  .meta({ id: 'LookupSecret' })
export type LookupSecret = z.infer<typeof LookupSecret>

export const SecretSource = z.union([value, z.discriminatedUnion('kind', [StaticSecret, LookupSecret])])
export type SecretSource = z.infer<typeof SecretSource>
