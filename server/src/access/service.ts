import { createHmac } from 'node:crypto'
import type { Scope, Who } from '@parley/contract/endpoint'
import { scopes as allScopes } from '@parley/contract/endpoint'
import { Problem } from '@parley/contract/problems'
import type { Clock } from '@parley/store/clock'
import { isKey, makeKey } from './key-format.ts'
import type { AccessStore, Holder, KeyRow } from './store.ts'

/*
 * Who is asking. A key is found by its HMAC, so the table is of no use to whoever reads it; the checksum in a key spares the
 * database every text that cannot be one. What was found is remembered for a second: that is how long a revoked key may
 * still be let in by another replica.
 */

const remembered = 1_000
const mostRemembered = 10_000
/** How often the time of last use is written. */
const useWritten = 60_000
const sessionLife = 30 * 24 * 3_600_000

/** What a key may do unless its maker says otherwise: all but making further keys. */
export const usualScopes: readonly Scope[] = allScopes.filter((scope) => scope !== 'keys:admin')

export interface NewKey {
  name: string | null
  scopes?: readonly Scope[] | undefined
  expires_at?: string | null | undefined
}

export type Access = ReturnType<typeof accessService>

export function accessService({ store, pepper, clock }: { store: AccessStore; pepper: Buffer; clock: Clock }) {
  const found = new Map<string, { holder: Holder | undefined; until: number }>()
  const useNoted = new Map<string, number>()
  const hash = (text: string): Buffer => createHmac('sha256', pepper).update(text).digest()

  async function lookUp(text: string): Promise<Holder | undefined> {
    if (isKey(text, 'prl')) return store.keyHolder(hash(text))
    if (isKey(text, 'prs')) return store.sandboxHolder(hash(text))
    const session = /^[\w-]{43}$/.test(text) ? await store.sessionHolder(hash(text)) : undefined
    return session && { ...session, scopes: [...allScopes] }
  }

  async function holderOf(text: string): Promise<Holder | undefined> {
    const known = found.get(text)
    if (known !== undefined && known.until > clock.millis()) return known.holder
    const holder = await lookUp(text)
    if (found.size >= mostRemembered) found.clear()
    found.set(text, { holder, until: clock.millis() + remembered })
    return holder
  }

  function noteUse(id: string): void {
    if ((useNoted.get(id) ?? 0) > clock.millis() - useWritten) return
    if (useNoted.size >= mostRemembered) useNoted.clear()
    useNoted.set(id, clock.millis())
    // Lost when the database is away; the next use writes it again.
    store.used(id, clock.now()).catch(() => useNoted.delete(id))
  }

  async function add(owner: string, key: string, wanted: NewKey): Promise<KeyRow | undefined> {
    const row: KeyRow = {
      id: clock.id(),
      owner_id: owner,
      name: wanted.name,
      hash: hash(key),
      last_four: key.slice(-4),
      scopes: [...(wanted.scopes ?? usualScopes)],
      created_at: clock.now(),
      last_used_at: null,
      expires_at: wanted.expires_at ?? null,
    }
    return (await store.insertKey(row)) ? row : undefined
  }

  return {
    /** Whom a key, or the text of a session cookie, stands for. */
    async identify(text: string | undefined): Promise<Who> {
      const holder = text === undefined ? undefined : await holderOf(text)
      if (holder === undefined) throw new Problem('authentication_error')
      if (holder.expiresAt !== null && Date.parse(holder.expiresAt) <= clock.millis())
        throw new Problem('authentication_error')
      if (holder.kind === 'key') noteUse(holder.id)
      return { kind: holder.kind, id: holder.id, owner: holder.owner, scopes: holder.scopes }
    },

    /** The key itself is in the answer, here and never again. */
    async createKey(owner: string, wanted: NewKey): Promise<{ row: KeyRow; key: string }> {
      const key = makeKey('prl')
      const row = await add(owner, key, wanted)
      if (row === undefined) throw new Error('a new random key exists already')
      return { row, key }
    },

    /** Makes sure that a key given from outside opens the door; every start may ask for it again. */
    async ensureKey(owner: string, key: string, name: string): Promise<void> {
      await add(owner, key, { name, scopes: allScopes })
    },

    keys: (owner: string): Promise<KeyRow[]> => store.keys(owner),

    async deleteKey(owner: string, id: string): Promise<void> {
      const gone = await store.deleteKey(owner, id)
      found.clear()
      if (!gone) throw new Problem('not_found')
    },

    /** A new key with the old one's rights; the old one works for `graceSeconds` more. */
    async rotateKey(owner: string, id: string, graceSeconds: number): Promise<{ row: KeyRow; key: string }> {
      const old = await store.key(owner, id)
      if (old === undefined) throw new Problem('not_found')
      const made = await this.createKey(owner, { name: old.name, scopes: old.scopes, expires_at: old.expires_at })
      await store.expireKey(owner, id, new Date(clock.millis() + graceSeconds * 1_000).toISOString())
      found.clear()
      return made
    },

    /** A new session key for a sandbox; the one before it is void at once. */
    async openSandbox(sandbox: string, owner: string): Promise<string> {
      const key = makeKey('prs')
      await store.putSandboxKey(sandbox, owner, hash(key))
      found.clear()
      return key
    },

    async closeSandbox(sandbox: string): Promise<void> {
      await store.deleteSandboxKey(sandbox)
      found.clear()
    },

    /** A browser's session: the text of its cookie. */
    async openSession(user: string, token: string): Promise<{ expiresAt: string }> {
      const expiresAt = new Date(clock.millis() + sessionLife).toISOString()
      await store.insertSession({
        id: clock.id(),
        hash: hash(token),
        user_id: user,
        expires_at: expiresAt,
        last_seen_at: clock.now(),
      })
      return { expiresAt }
    },

    closeSessions: async (user: string, except: string | null): Promise<void> => {
      await store.deleteSessions(user, except)
      found.clear()
    },

    async closeSession(id: string): Promise<void> {
      await store.deleteSession(id)
      found.clear()
    },
  }
}
