import type { GitProvider } from '@parley/contract/git-provider'
import { type Places, usualPlaces } from './address.ts'
import { cloudRepoHost } from './cloud-repo-host.ts'
import { datacenterPlaces, datacenterRepoHost } from './datacenter-repo-host.ts'
import { devopsPlaces, devopsSuite } from './devops-suite.ts'
import { forgeA } from './forge-a.ts'
import { forgeB } from './forge-b.ts'
import type { Account, Forge } from './forge.ts'
import { openForge } from './open-forge.ts'

export interface ForgeMember {
  open: (account: Account) => Forge
  /** Where an account is when the user names no host; null where there is no such place. */
  defaultHost: string | null
  /** Where repositories are below a host. */
  places: Places
  /** What a host must be, where not every address will do. */
  host?: { is: (url: URL) => boolean; must: string }
}

/** The family: every kind of host but `enterprise_sso`, which is a way to sign in and has no repositories. */
const members: Record<Exclude<GitProvider, 'enterprise_sso'>, ForgeMember> = {
  forge_a: { open: forgeA, defaultHost: 'https://github.com', places: usualPlaces },
  forge_b: { open: forgeB, defaultHost: 'https://gitlab.com', places: usualPlaces },
  cloud_repo_host: { open: cloudRepoHost, defaultHost: 'https://bitbucket.org', places: usualPlaces },
  datacenter_repo_host: { open: datacenterRepoHost, defaultHost: null, places: datacenterPlaces },
  open_forge: { open: openForge, defaultHost: 'https://codeberg.org', places: usualPlaces },
  devops_suite: {
    open: devopsSuite,
    defaultHost: null,
    places: devopsPlaces,
    host: { is: ({ pathname }) => pathname !== '/', must: 'must name the organisation, as dev.azure.com/acme does' },
  },
}

/** The member of a kind; undefined when this kind has no repositories. */
export const forgeMember = (kind: GitProvider): ForgeMember | undefined =>
  kind === 'enterprise_sso' ? undefined : members[kind]

/** The kinds that can be connected. */
export const offeredForges = (): GitProvider[] => Object.keys(members) as GitProvider[]
