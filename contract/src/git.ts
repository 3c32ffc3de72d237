import { z } from 'zod'
import { described, doneInWords } from './described.ts'
import { endpoint } from './endpoint.ts'
import { RepositoryName } from './git-names.ts'
import { GitProvider, GitProviderInput, SuggestedTask, gitProvider } from './git-provider.ts'
import { page, pageQuery } from './page.ts'
import { addressProblem } from './text.ts'

/** A repository of a connected forge. Times are the forge's own, ISO 8601. */
export const Repository = z
  .object(
    described(
      {
        id: z.string(),
        full_name: z.string(),
        git_provider: GitProvider,
        is_public: z.boolean(),
        stargazers_count: z.int().nullable(),
        link_header: z.string().nullable(),
        pushed_at: z.string().nullable(),
        owner_type: z.enum(['user', 'organization']).nullable(),
        main_branch: z.string().nullable(),
      },
      {
        id: 'The host\u2019s own.',
        full_name: '`owner/name`, as a start takes it.',
        stargazers_count: 'Null where the host counts no stars.',
        link_header: 'Always null: page ids take its place.',
        pushed_at: 'Of the last push or change; null where the host does not tell.',
        main_branch: 'Null when it is empty, or where a listing does not tell.',
        is_public: 'Whether everybody may read it.',
        owner_type: 'Null where the host does not tell.',
      },
    ),
  )
  .meta({ id: 'Repository' })
export type Repository = z.infer<typeof Repository>

export const Branch = z
  .object(
    described(
      {
        name: z.string(),
        commit_sha: z.string(),
        protected: z.boolean(),
        last_push_date: z.string().nullable(),
      },
      {
        commit_sha: 'Where it stands.',
        protected: 'False too where the rules may not be read.',
        last_push_date: 'Null where the host does not tell.',
        name: 'As Git knows it.',
      },
    ),
  )
  .meta({ id: 'Branch' })
export type Branch = z.infer<typeof Branch>

export const InstallationPage = page(z.string()).meta({ id: 'InstallationPage' })
export type InstallationPage = z.infer<typeof InstallationPage>
export const RepositoryPage = page(Repository).meta({ id: 'RepositoryPage' })
export type RepositoryPage = z.infer<typeof RepositoryPage>
export const BranchPage = page(Branch).meta({ id: 'BranchPage' })
export type BranchPage = z.infer<typeof BranchPage>
export const SuggestedTaskPage = page(SuggestedTask).meta({ id: 'SuggestedTaskPage' })
export type SuggestedTaskPage = z.infer<typeof SuggestedTaskPage>

const forgeFails = [
  'forge_not_connected',
  'forge_token_rejected',
  'malformed_page_id',
  'upstream_error',
  'upstream_timeout',
  'unavailable',
] as const

export const searchInstallations = endpoint({
  method: 'GET',
  path: '/api/v1/git/installations/search',
  summary: 'List installations at a Git host',
  description: 'Installations, workspaces, projects or organisations, as the host calls them; each a plain text.',
  access: 'git:read',
  query: z.object({ provider: GitProviderInput, ...pageQuery(100) }),
  returns: InstallationPage,
  fails: [...forgeFails, 'not_offered'],
  example: { returns: { items: ['51423'], next_page_id: null } },
})

export const repositorySortOrders = [
  'stars-desc',
  'stars-asc',
  'forks-desc',
  'forks-asc',
  'updated-desc',
  'updated-asc',
] as const
export type RepositorySortOrder = (typeof repositorySortOrders)[number]

export const searchRepositories = endpoint({
  method: 'GET',
  path: '/api/v1/git/repositories/search',
  summary: 'Search repositories',
  description:
    'Without `query` the caller\u2019s own repositories, most recently pushed first; with it a search of the whole host. ' +
    'A repository\u2019s address as `query` finds that one.',
  access: 'git:read',
  query: z.object({
    provider: GitProviderInput,
    query: z
      .string()
      .trim()
      .min(1)
      .max(256)
      .optional()
      .meta({ description: 'Words of a name, or the address of a repository.' }),
    installation_id: z.string().min(1).max(256).optional().meta({
      description: 'Only of this installation, workspace, project or organisation; not looked at with a query.',
    }),
    sort_order: z
      .enum(repositorySortOrders)
      .optional()
      .meta({ description: 'Needs a query. A host refuses an order that it does not know.' }),
    ...pageQuery(100),
  }),
  returns: RepositoryPage,
  fails: [...forgeFails, 'sort_order_without_query'],
  example: {
    returns: {
      items: [
        {
          id: '7',
          full_name: 'ada/engine',
          git_provider: 'open_forge',
          is_public: true,
          stargazers_count: 12,
          link_header: null,
          pushed_at: '2026-11-20T18:00:00Z',
          owner_type: 'user',
          main_branch: 'main',
        },
      ],
      next_page_id: null,
    },
  },
})

export const searchBranches = endpoint({
  method: 'GET',
  path: '/api/v1/git/branches/search',
  summary: 'List branches of a repository',
  description: 'Branches whose name contains `query` or whose commit starts with it; case does not matter.',
  access: 'git:read',
  query: z.object({
    provider: GitProviderInput,
    repository: RepositoryName,
    query: z
      .string()
      .trim()
      .max(256)
      .default('')
      .meta({ description: 'Part of the name or the beginning of the commit, in any case.' }),
    ...pageQuery(30),
  }),
  returns: BranchPage,
  fails: [...forgeFails, 'repository_not_accessible'],
  example: {
    returns: {
      items: [{ name: 'main', commit_sha: '9c1f2ab', protected: true, last_push_date: '2026-11-20T18:00:00Z' }],
      next_page_id: null,
    },
  },
})

export const searchSuggestedTasks = endpoint({
  method: 'GET',
  path: '/api/v1/git/suggested-tasks/search',
  summary: 'List suggested tasks',
  description: 'Own pull requests that conflict, fail checks or have comments, then assigned issues, of all hosts.',
  access: 'git:read',
  query: z.object(pageQuery(30)),
  returns: SuggestedTaskPage,
  fails: ['forge_not_connected', 'malformed_page_id'],
  example: {
    returns: {
      items: [
        {
          git_provider: 'open_forge',
          task_type: 'MERGE_CONFLICTS',
          repo: 'ada/engine',
          issue_number: 12,
          title: 'Faster parser',
        },
      ],
      next_page_id: null,
    },
  },
})

/** What is wrong with `host` as the place of a Git host; undefined when nothing is. */
export function forgeHostProblem(host: string): string | undefined {
  const bare = /^[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?(:\d{1,5})?(\/[\w.~-]+)*\/?$/
  if (host === '' || bare.test(host)) return undefined
  return addressProblem(host)
}

/** A token for a Git host. An empty token keeps the stored one; an empty host is the kind's public host. */
export const ProviderToken = z
  .object(
    described(
      {
        token: z.string().trim().max(4096).nullable().default(null),
        user_id: z.string().max(255).nullable().default(null),
        host: z
          .string()
          .trim()
          .max(2048)
          .superRefine((text, ctx) => {
            const message = forgeHostProblem(text)
            if (message !== undefined) ctx.addIssue({ code: 'custom', message })
          })
          .nullable()
          .default(null),
      },
      {
        token: 'Null or empty: the stored one stays. Never answered.',
        user_id: 'Kept for clients that send it; who one is, the host says.',
        host: 'Name or address of the host; null or empty: the public one of its kind.',
      },
    ),
  )
  .meta({ id: 'ProviderToken' })
export type ProviderToken = z.infer<typeof ProviderToken>

export type ProviderTokens = Partial<Record<GitProvider, ProviderToken>>

/** Tokens by kind of host; other services' words for the kinds are taken too. */
export const ProviderTokensInput = z.record(z.string(), ProviderToken).transform((tokens, ctx) => {
  const byProvider: ProviderTokens = {}
  for (const [word, token] of Object.entries(tokens)) {
    const provider = gitProvider(word)
    if (provider !== undefined) byProvider[provider] = token
    else ctx.addIssue({ code: 'custom', message: 'is no kind of Git host', path: [word] })
  }
  return byProvider
})

export const connectGitProviders = endpoint({
  method: 'POST',
  path: '/api/v1/secrets/git-providers',
  summary: 'Connect Git hosts',
  description:
    'Checks each token at its host, then replaces all connections by the ones sent. A host of its own kind needs its address; ' +
    'that of `devops_suite` names the organisation. `enterprise_sso` is a way to sign in and cannot be connected.',
  access: 'git:write',
  body: z.object({
    provider_tokens: ProviderTokensInput.meta({ description: 'By kind of host; what is not sent is disconnected.' }),
  }),
  returns: z.object({ message: doneInWords }),
  fails: ['forge_token_rejected', 'not_offered', 'upstream_error', 'upstream_timeout'],
  example: {
    body: { provider_tokens: { open_forge: { token: '0123456789abcdef', host: 'git.example' } } },
    returns: { message: 'Git providers stored' },
  },
})

export const disconnectGitProviders = endpoint({
  method: 'DELETE',
  path: '/api/v1/secrets/git-providers',
  summary: 'Disconnect Git hosts',
  description: 'Removes all stored tokens, or the one of `provider`.',
  access: 'git:write',
  query: z.object({ provider: GitProviderInput.optional() }),
  returns: z.object({ message: doneInWords }),
  example: { returns: { message: 'Unset Git provider tokens' } },
})

/** The caller at a connected host. */
export const GitAccount = z
  .object(
    described(
      {
        git_provider: GitProvider,
        id: z.string(),
        login: z.string(),
        avatar_url: z.string().nullable(),
        name: z.string().nullable(),
        email: z.string().nullable(),
        company: z.string().nullable(),
        host: z.string().nullable(),
      },
      {
        git_provider: 'The kind of host.',
        id: 'The host’s own.',
        login: 'The name at the host.',
        avatar_url: 'A picture; null: none.',
        name: 'As the host tells it.',
        email: 'As the host tells it.',
        company: 'As the host tells it.',
        host: 'Null: the public host of its kind.',
      },
    ),
  )
  .meta({ id: 'GitAccount' })
export type GitAccount = z.infer<typeof GitAccount>

export const listGitAccounts = endpoint({
  method: 'GET',
  path: '/api/v1/git/accounts',
  summary: 'List connected Git hosts',
  description: 'Who the caller is at each connected host. Tokens are never answered.',
  access: 'git:read',
  returns: z.array(GitAccount),
  example: {
    returns: [
      {
        git_provider: 'open_forge',
        id: '3',
        login: 'ada',
        avatar_url: null,
        name: 'Ada',
        email: null,
        company: null,
        host: 'git.example',
      },
    ],
  },
})
