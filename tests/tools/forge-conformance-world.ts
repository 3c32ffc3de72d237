import type { ForgeWorld } from '@parley/forge/conformance'
import type { Account, Forge } from '@parley/forge/forge'
import { type DialectName, openForgeServer } from './forge-server.ts'
import type { HostedRepository } from './forge-world.ts'

const numbered = (count: number, prefix: string) =>
  Array.from({ length: count }, (_, index) => `${prefix}${String(index).padStart(3, '0')}`)

const adas: HostedRepository = { members: { ada: 'write' } }

const widgets: HostedRepository = {
  ...adas,
  pushedAt: '2026-03-01T00:00:00Z',
  branches: numbered(129, 'topic/'),
  protectedBranches: ['main'],
  pulls: [
    { number: 1, title: 'It conflicts', author: 'ada', mergeable: false },
    { number: 2, title: 'It fails', author: 'ada', checks: 'failure' },
    { number: 3, title: 'It waits', author: 'ada', checks: 'success', reviewers: ['bob'] },
    { number: 4, title: 'It is in order', author: 'ada', checks: 'success' },
    { number: 5, title: 'It is not ours', author: 'bob', mergeable: false },
  ],
  issues: [
    { number: 7, title: 'Widgets do not turn', author: 'bob', assignee: 'ada' },
    { number: 8, title: 'Widgets squeak', author: 'ada', assignee: 'bob' },
  ],
}

/** The world that `forge/src/conformance.ts` asks for, told in one dialect, and accounts of ada at it. */
export async function openConformanceWorld(
  dialect: DialectName,
  open: (account: Account) => Forge,
  installations: string[] | null,
  { clonePath = '/acme/widgets.git', ...knows }: Partial<ForgeWorld['knows'] & { clonePath: string }> = {},
): Promise<ForgeWorld> {
  const server = await openForgeServer({
    dialect,
    users: { ada: 'token-of-ada', bob: 'token-of-bob' },
    repositories: {
      'acme/widgets': widgets,
      'acme/gadgets': { ...adas, private: false, stars: 5, pushedAt: '2026-02-01T00:00:00Z' },
      'bob/secret': { members: { bob: 'write' } },
      'bob/gadget-box': { members: { bob: 'write' }, private: false, stars: 9 },
    },
    unfilled: Object.fromEntries(numbered(120, 'acme/part-').map((name) => [name, adas])),
  })
  return {
    host: server.host,
    token: 'token-of-ada',
    installations,
    cloneUrl: `${server.host}${clonePath}`,
    knows: { stars: true, pushes: true, issues: true, strangers: true, ...knows },
    open: (account) =>
      open({ host: server.host, token: 'token-of-ada', fetch, signal: AbortSignal.timeout(10_000), ...account }),
    comments: () => server.world.comments,
    breakWith: (fault) => (server.fault = fault),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  }
}
