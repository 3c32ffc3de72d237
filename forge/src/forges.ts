import type { GitProvider } from '@parley/contract/git-provider'
import { forgeA } from './forge-a.ts'
import { forgeB } from './forge-b.ts'
import type { Account, Forge } from './forge.ts'
import { openForge } from './open-forge.ts'

export interface ForgeMember {
  open: (account: Account) => Forge
  /** Where an account is when the user names no host. */
  defaultHost: string
}

/** The family. A kind that is absent here is known by name and cannot be connected. */
const members: Partial<Record<GitProvider, ForgeMember>> = {
  forge_a: { open: forgeA, defaultHost: 'https://github.com' },
  forge_b: { open: forgeB, defaultHost: 'https://gitlab.com' },
  open_forge: { open: openForge, defaultHost: 'https://codeberg.org' },
}

/** The member of a kind; undefined when this kind cannot be connected. */
export const forgeMember = (kind: GitProvider): ForgeMember | undefined => members[kind]

/** The kinds that can be connected. */
export const offeredForges = (): GitProvider[] => Object.keys(members) as GitProvider[]
