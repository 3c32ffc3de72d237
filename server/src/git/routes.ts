import {
  connectGitProviders,
  disconnectGitProviders,
  listGitAccounts,
  searchBranches,
  searchInstallations,
  searchRepositories,
  searchSuggestedTasks,
} from '@parley/contract/git'
import { atOnce, serve } from '@parley/wire/serve'
import type { Git } from './service.ts'

export const gitRoutes = (git: Git) => [
  serve(searchInstallations, ({ who, query }) => git.installations(who.owner, query)),
  serve(searchRepositories, ({ who, query }) => git.repositories(who.owner, query)),
  serve(searchBranches, ({ who, query }) => git.branches(who.owner, query)),
  serve(searchSuggestedTasks, ({ who, query }) => git.suggestedTasks(who.owner, query)),
  serve(listGitAccounts, ({ who }) => git.accounts(who.owner)),
  atOnce(
    serve(connectGitProviders, async ({ who, body }) => {
      await git.connect(who.owner, body.provider_tokens)
      return { message: 'Git providers stored' }
    }),
  ),
  atOnce(
    serve(disconnectGitProviders, async ({ who, query }) => {
      await git.disconnect(who.owner, query.provider ?? null)
      return { message: 'Unset Git provider tokens' }
    }),
  ),
]
