import type { Who } from '@parley/contract/endpoint'
import type { GitProvider } from '@parley/contract/git-provider'
import { Problem } from '@parley/contract/problems'
import type { Bytes } from '@parley/wire/serve'
import type { Git } from '../git/service.ts'
import { isOurs, type OursParts } from './ours.ts'

/*
 * The token of a forge, for an agent server outside. A sandbox that Parley works in does not get it: git in it asks through
 * the proxy, which puts the credential in.
 */

const unsealMs = 5_000

export type ForgeTokens = ReturnType<typeof forgeTokens>

export const forgeTokens = ({ git, ...parts }: OursParts & { git: Pick<Git, 'forge' | 'connected'> }) => ({
  async read(who: Who, kind: GitProvider): Promise<Bytes> {
    if (who.kind !== 'sandbox' && !who.scopes.includes('git:write'))
      throw new Problem('insufficient_scope', undefined, { members: { scope: 'git:write' } })
    if (who.kind === 'sandbox' && (await isOurs(parts, who.id)))
      throw new Problem('insufficient_scope', 'Parley works in this sandbox; git in it needs no token.')
    if ((await git.connected(who.owner))[kind] === undefined) throw new Problem('not_found', 'No such provider')
    const account = await git.forge(who.owner, kind, AbortSignal.timeout(unsealMs))
    const token = account.credential()?.password
    if (token === undefined) throw new Problem('not_found', 'No such provider')
    return { type: 'text/plain; charset=utf-8', body: Buffer.from(token) }
  },
})
