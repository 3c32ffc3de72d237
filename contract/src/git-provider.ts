import { z } from 'zod'
import { described } from './described.ts'

/** The kinds of Git host, in the order of the specification. */
export const gitProviders = [
  'forge_a',
  'forge_b',
  'cloud_repo_host',
  'datacenter_repo_host',
  'open_forge',
  'devops_suite',
  'enterprise_sso',
] as const
export const GitProvider = z.enum(gitProviders).meta({ id: 'GitProvider', description: 'A kind of Git host.' })
export type GitProvider = z.infer<typeof GitProvider>

/** Words that other services and their clients use for the same hosts. Taken in requests, never answered. */
export const gitProviderAliases: Readonly<Record<string, GitProvider>> = {
  github: 'forge_a',
  gitlab: 'forge_b',
  bitbucket: 'cloud_repo_host',
  bitbucket_data_center: 'datacenter_repo_host',
  forgejo: 'open_forge',
  gitea: 'open_forge',
  azure_devops: 'devops_suite',
}

/** The specification's word for a host kind; undefined when the text is neither that nor an alias. */
export function gitProvider(text: string): GitProvider | undefined {
  const known = gitProviders.find((provider) => provider === text)
  if (known !== undefined) return known
  return Object.hasOwn(gitProviderAliases, text) ? gitProviderAliases[text] : undefined
}

/** A host kind in a request. */
export const GitProviderInput = z
  .enum([...gitProviders, ...(Object.keys(gitProviderAliases) as [string, ...string[]])])
  .transform((text, ctx): GitProvider => {
    const provider = gitProvider(text)
    if (provider !== undefined) return provider
    ctx.addIssue({ code: 'custom', message: 'is no kind of Git host' })
    return z.NEVER
  })
  .meta({ description: 'A kind of Git host, by the specification\u2019s word or another service\u2019s.' })

export const suggestedTaskTypes = [
  'MERGE_CONFLICTS',
  'FAILING_CHECKS',
  'UNRESOLVED_COMMENTS',
  'OPEN_ISSUE',
  'OPEN_PR',
] as const
export const SuggestedTaskType = z
  .enum(suggestedTaskTypes)
  .meta({ id: 'SuggestedTaskType', description: 'What is to be done about the issue or pull request.' })
export type SuggestedTaskType = z.infer<typeof SuggestedTaskType>

/** Work that a forge offers: a pull request that conflicts, an open issue. */
export const SuggestedTask = z
  .object(
    described(
      {
        git_provider: GitProvider,
        task_type: SuggestedTaskType,
        repo: z.string(),
        issue_number: z.int(),
        title: z.string(),
      },
      {
        repo: '`owner/name`.',
        issue_number: 'Of the issue or the pull request.',
        title: 'Of the issue or the pull request.',
      },
    ),
  )
  .meta({ id: 'SuggestedTask' })
export type SuggestedTask = z.infer<typeof SuggestedTask>
