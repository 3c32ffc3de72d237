import { forgeMember, offeredForges } from '@parley/forge/forges'
import type { Git } from '../git/service.ts'
import type { SettingsService } from '../settings/service.ts'
import type { OpenParts } from './open.ts'

/** Where repositories of forges that nobody has connected are. */
const publicForges = offeredForges().flatMap((kind) => forgeMember(kind)?.defaultHost ?? [])

interface Parts {
  git: Pick<Git, 'connected'>
  settings: Pick<SettingsService, 'stored'>
}

/** Forges are reached over plain http from inside, so that the way out can put the credential in. */
export function authorship({ git, settings }: Parts): OpenParts['describe'] {
  return async (owner) => {
    const [forges, { git_user_name, git_user_email }] = await Promise.all([
      git.connected(owner),
      settings.stored(owner),
    ])
    const hosts = new Set([...Object.values(forges), ...publicForges])
    const secure = [...hosts].filter((host) => host.startsWith('https://'))
    return {
      gitRewrites: secure.map((host) => ({ from: `${host}/`, to: `${host.replace('https://', 'http://')}/` })),
      gitIdentity: { name: git_user_name || 'Parley', email: git_user_email || 'parley@localhost' },
    }
  }
}
