import { z } from 'zod'
import { described, kindOf } from './described.ts'
import { ExtraHeaders, WebAddress } from './text.ts'

/* Where the value of a secret comes from: it is said, or it is fetched when a command needs it. */

const value = z.string().max(65_536).meta({ description: 'The value itself.' })
const description = z
  .string()
  .max(1000)
  .nullable()
  .default(null)
  .meta({ description: 'What it is for, told to the agent with its name.' })

export const StaticSecret = z.object({ kind: kindOf('StaticSecret'), value, description }).meta({ id: 'StaticSecret' })

/** The answer to a GET of `url` with `headers` is the value: for tokens that live shorter than a conversation. */
export const LookupSecret = z
  .object(
    described(
      { kind: kindOf('LookupSecret'), url: WebAddress, headers: ExtraHeaders.default({}), description },
      { headers: 'Sent along with the request for the value.' },
    ),
  )
  .meta({ id: 'LookupSecret' })
export type LookupSecret = z.infer<typeof LookupSecret>

export const SecretSource = z.union([value, z.discriminatedUnion('kind', [StaticSecret, LookupSecret])])
export type SecretSource = z.infer<typeof SecretSource>
