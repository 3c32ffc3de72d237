import type { AuditAction, AuditEntry, AuditPage } from '@parley/contract/audit'
import type { Who } from '@parley/contract/endpoint'
import { Problem } from '@parley/contract/problems'
import type { Clock } from '@parley/store/clock'
import type { Cursor } from '@parley/store/page'
import type { AnyCall, Served } from '@parley/wire/serve'
import { actions, type Audited } from './actions.ts'
import type { AuditStore } from './store.ts'

/*
 * Who did what, written down for later. The entry of a call by a known caller is there before anything happens, so that no
 * change goes unrecorded: it begins as `begun` and is ended once with what came of the call. A stranger's try is recorded
 * when it has ended, and not at all when it was turned away for trying too often, so that strangers cannot fill the log.
 */

export type Audit = ReturnType<typeof auditService>

interface AuditParts {
  store: AuditStore
  clock: Clock
  cursor: Cursor
  /** Whether this user is the owner of the server, who sees all. */
  isOwner: (user: string) => Promise<boolean>
  log: (message: string, details: Record<string, unknown>) => void
}

/** Where a call came from. */
type From = Pick<AnyCall['request'], 'id' | 'ip' | 'header'>

export function auditService({ store, clock, cursor, isOwner, log }: AuditParts) {
  const begin = (who: Who, request: From, action: AuditAction, object: string | null): AuditEntry => ({
    id: clock.id(),
    at: clock.now(),
    user_id: who.owner || null,
    actor_kind: who.kind,
    actor_id: who.id,
    action,
    object,
    outcome: 'begun',
    ip: request.ip,
    user_agent: request.header('user-agent')?.slice(0, 512) ?? null,
    request_id: request.id,
  })

  async function end(entry: AuditEntry, outcome: string, answer: unknown): Promise<void> {
    const ended = { outcome, object: entry.object ?? madeId(answer), user_id: entry.user_id ?? signedIn(answer) }
    try {
      if (entry.actor_kind !== 'nobody') await store.end(entry.id, ended)
      else if (outcome !== 'quota_exceeded') await store.insert({ ...entry, ...ended })
    } catch (error) {
      // What was done is done, and its entry is there as `begun`.
      log('the end of an audit entry could not be written', { err: error, entry: entry.id, outcome })
    }
  }

  async function recorded({ action, names }: Audited, call: AnyCall, work: () => unknown): Promise<unknown> {
    const entry = begin(call.who, call.request, action, named(call, names))
    if (entry.actor_kind !== 'nobody') await store.insert(entry)
    try {
      const answer = await work()
      await end(entry, 'ok', answer)
      return answer
    } catch (error) {
      await end(entry, error instanceof Problem ? error.code : 'internal_error', undefined)
      throw error
    }
  }

  return {
    /** The same calls, those that the log wants to know of recorded. */
    watch: (served: readonly Served[]): Served[] =>
      served.map((one) => {
        const found = actions.find(({ endpoint }) => endpoint === one.endpoint)
        return found ? { ...one, handle: (call) => recorded(found, call, () => one.handle(call)) } : one
      }),

    /** Of a stranger who has tried something, known by now or not. */
    async note(action: AuditAction, request: From, { object, outcome, user }: Noted): Promise<void> {
      const nobody: Who = { owner: '', kind: 'nobody', id: '', scopes: [] }
      await store.insert({ ...begin(nobody, request, action, object), outcome, user_id: user })
    },

    async search(who: Who, { action__eq, page_id, limit }: Search): Promise<AuditPage> {
      const query = `audit ${who.owner} ${action__eq ?? ''}`
      const below = page_id === undefined ? null : String(cursor.read(page_id, query)[0])
      const user = (await isOwner(who.owner)) ? null : who.owner
      const rows = await store.page(user, action__eq, below, limit + 1)
      const items = rows.slice(0, limit)
      const last = rows.length > limit ? items.at(-1) : undefined
      return { items, next_page_id: last === undefined ? null : cursor.write({ query, at: [last.id] }) }
    },
  }
}

interface Noted {
  object: string | null
  outcome: string
  user: string | null
}

interface Search {
  action__eq?: AuditAction | undefined
  page_id?: string | undefined
  limit: number
}

const isFields = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null

/** The name of what the call touches, as its input says it. */
function named({ params, query, body }: AnyCall, names: readonly string[]): string | null {
  const said = Object.assign({}, ...[query, body, params].filter(isFields)) as Record<string, unknown>
  const name = names.map((one) => said[one]).find((value) => typeof value === 'string')
  return typeof name === 'string' ? name.slice(0, 512) : null
}

/** The id of what a call has made. */
const madeId = (answer: unknown): string | null =>
  isFields(answer) && typeof answer.id === 'string' ? answer.id : null

/** Who has signed in by the call. */
const signedIn = (answer: unknown): string | null =>
  isFields(answer) && isFields(answer.user) ? madeId(answer.user) : null
