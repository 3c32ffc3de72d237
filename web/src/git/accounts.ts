import type { GitProvider } from '@parley/contract/git-provider'
import { queryOptions } from '@tanstack/react-query'
import { client } from '../api.ts'

export const accounts = queryOptions({ queryKey: ['git', 'accounts'], queryFn: () => client.git.accounts() })

/** How the kinds of Git host are called in the page, in the order of the settings. */
export const hosts: { provider: Exclude<GitProvider, 'enterprise_sso'>; label: string; hint: string }[] = [
  { provider: 'forge_a', label: 'GitHub', hint: 'A personal access token that may read and write code.' },
  { provider: 'forge_b', label: 'GitLab', hint: 'A personal access token with the scope api.' },
  { provider: 'open_forge', label: 'Gitea or Forgejo', hint: 'An access token; give the address of your server.' },
  { provider: 'cloud_repo_host', label: 'Bitbucket Cloud', hint: 'user:app-password, or an access token.' },
  { provider: 'datacenter_repo_host', label: 'Bitbucket Data Center', hint: 'An HTTP access token and the address.' },
  {
    provider: 'devops_suite',
    label: 'Azure DevOps',
    hint: 'A personal access token; the address has the organisation.',
  },
]

export const hostLabel = (provider: string): string =>
  hosts.find((host) => host.provider === provider)?.label ?? provider
