import type { GitProvider } from '@parley/contract/git-provider'
import type { Clock } from '@parley/store/clock'
import type { Connected, Connections } from './connections.ts'
import type { GitStore } from './store.ts'

/*
 * Repositories that hold skills for everything of an account: `ada/.parley` for Ada, `acme/.parley` for whoever works on a
 * repository of acme. Most accounts have none, so what a forge said is remembered for a while.
 */

export interface SkillRepository {
  /** `owner/name`. */
  name: string
  /** To clone from, without any credential. */
  url: string
}

/** The first that is there counts. */
const names = ['.parley', '.agents', '.openhands']
const askMs = 3_000
const keptMs = 5 * 60_000
const mostKept = 1_000

interface Parts {
  store: Pick<GitStore, 'list'>
  connections: Connections
  clock: Clock
}

export function skillRepositories({ store, connections, clock }: Parts) {
  const known = new Map<string, { found: SkillRepository | null; until: number }>()

  async function of(owner: string, connected: Connected, account: string): Promise<SkillRepository | null> {
    const key = `${owner} ${connected.host} ${account}`
    const kept = known.get(key)
    if (kept !== undefined && kept.until > clock.millis()) return kept.found
    const found = await first(connected, account)
    if (found === undefined) return null
    known.delete(key)
    known.set(key, { found, until: clock.millis() + keptMs })
    for (const oldest of known.keys()) if (known.size > mostKept) known.delete(oldest)
    return found
  }

  /**
   * Those of the owner's accounts, then that of the repository worked on; the later one wins. Takes at most 3 s, and a forge
   * that does not answer has none.
   */
  return async (owner: string, selected: { kind: GitProvider; name: string } | null): Promise<SkillRepository[]> => {
    const opened = await connections.openAll(owner, AbortSignal.timeout(askMs))
    if (opened.length === 0) return []
    const rows = await store.list(owner)
    const asked = [
      ...opened.map((one) => ({ one, account: rows.find(({ kind }) => kind === one.kind)?.account ?? '' })),
      ...opened
        .filter(({ kind }) => kind === selected?.kind)
        .map((one) => ({ one, account: selected?.name.split('/')[0] ?? '' })),
    ].filter(({ account }) => account !== '')
    const found = await Promise.all(asked.map(({ one, account }) => of(owner, one, account)))
    const byUrl = new Map(found.flatMap((one) => (one === null ? [] : [[one.url, one] as const])))
    return [...byUrl.values()]
  }
}

/** Undefined: the forge does not say. */
async function first({ forge }: Connected, account: string): Promise<SkillRepository | null | undefined> {
  const asked = names.map(async (name) => ((await forge.repository(`${account}/${name}`)) === null ? null : name))
  try {
    const name = (await Promise.all(asked)).find((one) => one !== null)
    return name === undefined ? null : { name: `${account}/${name}`, url: forge.cloneUrl(`${account}/${name}`) }
  } catch {
    return undefined
  }
}
