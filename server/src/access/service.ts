import type { Scope, Who } from '@parley/contract/endpoint'
import { scopes as allScopes } from '@parley/contract/endpoint'
import { Problem } from '@parley/contract/problems'
import type { BrowserSession } from '@parley/contract/users'
import type { Clock } from '@parley/store/clock'
import { holdersOf } from './holders.ts'
import { makeKey } from './key-format.ts'
import type { AccessStore, Holder, KeyRow } from './store.ts'

/*
 * Who is asking, and the keys and sessions by which this is known. Whatever makes one void tells the other replicas.
 */

const mostRemembered = 10_000
/** How often the time of last use is written. */
const keyUseWritten = 60_000
const sessionUseWritten = 3_600_000
/** A session ends so long after its last use, and so long after its beginning in any case. */
const sessionIdle = 30 * 24 * 3_600_000
const sessionLife = 90 * 24 * 3_600_000

/** What a key may do unless its maker says otherwise: all but making further keys. */
export const usualScopes: readonly Scope[] = allScopes.filter((scope) => scope !== 'keys:admin')

export interface NewKey {
  name: string | null
  scopes?: readonly Scope[] | undefined
  expires_at?: string | null | undefined
}

export type Access = ReturnType<typeof accessService>

/** Nobody hands on more than they have. Throws `insufficient_scope`. */
export function mayHand(who: Who, scopes: readonly Scope[]): void {
  const scope = scopes.find((one) => !who.scopes.includes(one))
  if (scope === undefined) return
  const detail = `A key cannot have the scope ${scope}, which its maker lacks.`
  throw new Problem('insufficient_scope', detail, { members: { scope } })
}

export interface AccessParts {
  store: AccessStore
  pepper: Buffer
  clock: Clock
  /** Told when a key or a session has become void; is to call `forget` here and on every other server, after the commit. */
  revoked?: () => void
}

export function accessService({ store, pepper, clock, revoked }: AccessParts) {
  const holders = holdersOf({ store, pepper, clock })
  const changed = revoked ?? holders.forget
  const useNoted = new Map<string, number>()
  const { hash } = holders
  const after = (ms: number): string => new Date(clock.millis() + ms).toISOString()

  function noteUse({ kind, id }: Holder): void {
    const pause = kind === 'key' ? keyUseWritten : sessionUseWritten
    if ((useNoted.get(id) ?? 0) > clock.millis() - pause) return
    if (useNoted.size >= mostRemembered) useNoted.clear()
    useNoted.set(id, clock.millis())
    const written = kind === 'key' ? store.used(id, clock.now()) : store.seen(id, clock.now(), after(sessionIdle))
    // Lost when the database is away; the next use writes it again.
    written.catch(() => useNoted.delete(id))
  }

  const newRow = (owner: string, key: string, wanted: NewKey): KeyRow => ({
    id: clock.id(),
    owner_id: owner,
    name: wanted.name,
    hash: hash(key),
    last_four: key.slice(-4),
    scopes: [...(wanted.scopes ?? usualScopes)],
    created_at: clock.now(),
    last_used_at: null,
    expires_at: wanted.expires_at ?? null,
    replaced_by: null,
  })

  return {
    /** Whom a key, or the text of a session cookie, stands for. `from` is the address it came from. */
    async identify(text: string, from: string): Promise<Who> {
      const holder = await holders.find(text, from)
      if (holder.kind !== 'sandbox') noteUse(holder)
      return { kind: holder.kind, id: holder.id, owner: holder.owner, scopes: holder.scopes }
    },

    /** What was known of keys and sessions may no longer hold. */
    forget: holders.forget,

    /** The key itself is in the answer, here and never again. */
    async createKey(owner: string, wanted: NewKey): Promise<{ row: KeyRow; key: string }> {
      const key = makeKey('prl')
      const row = newRow(owner, key, wanted)
      if (!(await store.insertKey(row))) throw new Error('a new random key exists already')
      return { row, key }
    },

    /** Makes sure that a key given from outside opens the door; every start may ask for it again. */
    async ensureKey(owner: string, key: string, name: string): Promise<void> {
      await store.insertKey(newRow(owner, key, { name, scopes: allScopes }))
      holders.forget()
    },

    keys: (owner: string): Promise<KeyRow[]> => store.keys(owner),

    async deleteKey(owner: string, id: string): Promise<void> {
      const gone = await store.deleteKey(owner, id)
      changed()
      if (!gone) throw new Problem('not_found')
    },

    /** A new key with the old one's name, rights and length of life; the old one works for `graceSeconds` more. */
    async rotateKey(who: Who, id: string, graceSeconds: number): Promise<{ row: KeyRow; key: string }> {
      const old = await store.key(who.owner, id)
      if (old === undefined) throw new Problem('not_found')
      mayHand(who, old.scopes)
      const ends = old.expires_at === null ? null : Date.parse(old.expires_at)
      if (ends !== null && ends <= clock.millis()) throw new Problem('state_conflict', 'The key has expired.')
      const expires_at = ends === null ? null : after(ends - Date.parse(old.created_at))
      const key = makeKey('prl')
      const row = newRow(who.owner, key, { name: old.name, scopes: old.scopes, expires_at })
      if (!(await store.replaceKey(row, id, after(graceSeconds * 1_000))))
        throw new Problem('state_conflict', 'The key has been replaced already.')
      changed()
      return { row, key }
    },

    /** A new session key for a sandbox; the one before it is void at once. */
    async openSandbox(sandbox: string, owner: string): Promise<string> {
      const key = makeKey('prs')
      await store.putSandboxKey(sandbox, owner, hash(key))
      changed()
      return key
    },

    async closeSandbox(sandbox: string): Promise<void> {
      await store.deleteSandboxKey(sandbox)
      changed()
    },

    /** A browser's session: the text of its cookie, which is worth nothing after `expiresAt`, and earlier when not used. */
    async openSession(user: string, token: string): Promise<{ expiresAt: string }> {
      const expiresAt = after(sessionLife)
      await store.insertSession({
        id: clock.id(),
        hash: hash(token),
        user_id: user,
        created_at: clock.now(),
        last_seen_at: clock.now(),
        expires_at: after(sessionIdle),
        ends_at: expiresAt,
      })
      return { expiresAt }
    },

    async sessions(who: Who): Promise<BrowserSession[]> {
      const rows = await store.sessions(who.owner, clock.now())
      return rows.map(({ id, created_at, last_seen_at, expires_at }) => ({
        id,
        created_at,
        last_seen_at,
        expires_at,
        current: who.kind === 'session' && who.id === id,
      }))
    },

    async endSession(user: string, id: string): Promise<{ success: true }> {
      const gone = await store.deleteOwnSession(user, id)
      changed()
      if (!gone) throw new Problem('not_found')
      return { success: true }
    },

    closeSessions: async (user: string, except: string | null): Promise<void> => {
      await store.deleteSessions(user, except)
      changed()
    },

    async closeSession(id: string): Promise<void> {
      await store.deleteSession(id)
      changed()
    },
  }
}
