import type { GitProvider } from '@parley/contract/git-provider'
import type { Clock } from '@parley/store/clock'
import type { Git } from '../../git/service.ts'

/*
 * Repositories with what holds for all work of a person or an organisation: `.agents` or `.openhands` beside the others. Whether
 * there is one is asked of the forge, and not again for a while, for most have none.
 */

export interface CommonRepository {
  name: string
  /** To clone it from. */
  url: string
}

const names = ['.openhands', '.agents'] as const
const lookMs = 3_000
const knownMs = 10 * 60_000
const mostKnown = 2_000

export type CommonRepositories = ReturnType<typeof commonRepositories>

export function commonRepositories({ git, clock }: { git: Git; clock: Clock }) {
  const known = new Map<string, { there: boolean; until: number }>()

  async function isThere(owner: string, kind: GitProvider, name: string): Promise<boolean> {
    const key = `${owner} ${kind} ${name}`
    const before = known.get(key)
    if (before !== undefined && before.until > clock.millis()) return before.there
    const there = await look(owner, kind, name)
    known.delete(key)
    known.set(key, { there, until: clock.millis() + knownMs })
    const oldest = known.size > mostKnown ? known.keys().next().value : undefined
    if (oldest !== undefined) known.delete(oldest)
    return there
  }

  async function look(owner: string, kind: GitProvider, name: string): Promise<boolean> {
    try {
      return (await (await git.forge(owner, kind, AbortSignal.timeout(lookMs))).repository(name)) !== null
    } catch {
      return false // A forge that does not answer now holds no start up.
    }
  }

  /** Of the user first, then of the repository's organisation, which wins. None where no forge of this kind is connected. */
  return async (owner: string, kind: GitProvider, repository: string): Promise<CommonRepository[]> => {
    const account = await git.account(owner, kind)
    if (account === null) return []
    const organisation = repository.slice(0, repository.lastIndexOf('/'))
    const wanted = [...new Set([account, organisation])].flatMap((of) => names.map((name) => `${of}/${name}`))
    const there = await Promise.all(
      wanted.map(async (name) => name !== repository && (await isThere(owner, kind, name))),
    )
    const found = wanted.filter((_, at) => there[at])
    return Promise.all(found.map(async (name) => ({ name, url: (await git.cloneSource(owner, kind, name)).url })))
  }
}
