import type { GitProvider } from '@parley/contract/git-provider'
import { queryOptions } from '@tanstack/react-query'
import { client } from '../api.ts'

export const accounts = queryOptions({ queryKey: ['git', 'accounts'], queryFn: () => client.git.accounts() })

/** How the kinds of Git host are called in the page, in the order of the settings. */
export const hosts: { provider: Exclude<GitProvider, 'enterprise_sso'>; label: string }[] = [
  { provider: 'forge_a', label: 'GitHub' },
  { provider: 'forge_b', label: 'GitLab' },
  { provider: 'open_forge', label: 'Gitea or Forgejo' },
  { provider: 'cloud_repo_host', label: 'Bitbucket Cloud' },
  { provider: 'datacenter_repo_host', label: 'Bitbucket Data Center' },
  { provider: 'devops_suite', label: 'Azure DevOps' },
]

export const hostLabel = (provider: string): string =>
  hosts.find((host) => host.provider === provider)?.label ?? provider
