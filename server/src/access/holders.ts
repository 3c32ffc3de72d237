import { createHmac, createSecretKey } from 'node:crypto'
import { scopes as allScopes } from '@parley/contract/endpoint'
import { Problem } from '@parley/contract/problems'
import type { Clock } from '@parley/store/clock'
import { countBadKeys } from './bad-keys.ts'
import { isKey } from './key-format.ts'
import type { AccessStore, Holder } from './store.ts'

/*
 * Whom a text stands for. It is found by its HMAC, so neither the table nor this process's memory of it is of use to whoever
 * reads them, and how long the search takes says nothing about the text. What was found is remembered for a second: that is
 * how long a revoked key may be let in by a replica that did not hear of it.
 */

const rememberMs = 1_000
const mostRemembered = 10_000
/** Different bad keys from one address in a minute. */
const allowedBadKeys = 20
/** So many times more, and what is not known already is not even looked up. */
const floodTimes = 10

/** An API key, a sandbox's session key, the text of a session cookie. */
const shapeOf = (text: string): Holder['kind'] | undefined => {
  if (isKey(text, 'prl')) return 'key'
  if (isKey(text, 'prs')) return 'sandbox'
  return /^[\w-]{43}$/.test(text) ? 'session' : undefined
}

export function holdersOf({ store, pepper, clock }: { store: AccessStore; pepper: Buffer; clock: Clock }) {
  const found = new Map<string, { holder: Holder | undefined; until: number }>()
  /** Looks under way, so that what many ask for at once is looked up once. */
  const looking = new Map<string, Promise<Holder | undefined>>()
  const badKeys = countBadKeys(allowedBadKeys, clock)
  let forgotten = 0
  // As a KeyObject: to make one of the bytes at each call costs seven times the hash.
  const key = createSecretKey(pepper)
  const hash = (text: string): Buffer => createHmac('sha256', key).update(text).digest()

  async function lookUp(kind: Holder['kind'], hashed: Buffer): Promise<Holder | undefined> {
    if (kind === 'key') return store.keyHolder(hashed)
    if (kind === 'sandbox') return store.sandboxHolder(hashed)
    const session = await store.sessionHolder(hashed)
    return session && { ...session, scopes: [...allScopes] }
  }

  function remember(name: string, holder: Holder | undefined, until: number): void {
    const [oldest] = found.keys()
    if (found.size >= mostRemembered && oldest !== undefined) found.delete(oldest)
    found.delete(name)
    found.set(name, { holder, until })
  }

  /** Undefined when there is nobody, or an address has guessed so much that nobody is looked for. */
  async function holderOf(text: string, name: string, hashed: Buffer, from: string): Promise<Holder | undefined> {
    const kind = shapeOf(text)
    if (kind === undefined) return undefined
    const known = found.get(name)
    if (known !== undefined && known.until > clock.millis()) return known.holder
    if (badKeys.isOver(from, floodTimes)) return undefined
    const going = looking.get(name) ?? look(kind, name, hashed)
    looking.set(name, going)
    return going
  }

  async function look(kind: Holder['kind'], name: string, hashed: Buffer): Promise<Holder | undefined> {
    // From before the look: what is revoked while it lasts is not remembered for longer than promised, nor past `forget`.
    const [until, before] = [clock.millis() + rememberMs, forgotten]
    try {
      const holder = await lookUp(kind, hashed)
      if (before === forgotten) remember(name, holder, until)
      return holder
    } finally {
      if (before === forgotten) looking.delete(name)
    }
  }

  return {
    hash,

    /** Throws `authentication_error`; `quota_exceeded` when the address has tried too many bad keys. */
    async find(text: string, from: string): Promise<Holder> {
      const hashed = hash(text)
      const name = hashed.toString('base64')
      const holder = await holderOf(text, name, hashed, from)
      const isGood =
        holder !== undefined && (holder.expiresAt === null || Date.parse(holder.expiresAt) > clock.millis())
      if (isGood) return holder
      badKeys.wrong(from, name)
      throw new Problem('authentication_error')
    },

    forget(): void {
      forgotten += 1
      found.clear()
      looking.clear()
    },
  }
}
