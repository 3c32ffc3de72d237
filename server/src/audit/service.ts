import type { AuditAction, AuditEntry, AuditPage, AuditVerdict } from '@parley/contract/audit'
import type { Who } from '@parley/contract/endpoint'
import { Problem } from '@parley/contract/problems'
import type { Clock } from '@parley/store/clock'
import type { Database } from '@parley/store/database'
import type { Cursor } from '@parley/store/page'
import type { AnyCall, Served } from '@parley/wire/serve'
import { actions, type Audited } from './actions.ts'
import type { AuditStore } from './store.ts'
import { verified } from './verify.ts'

/*
 * Who did what, written down for later: in the transaction of what was done, so that there is neither a change without its
 * entry nor an entry without its change. What was refused is written when everything else has been taken back; not what a
 * stranger tried too often, so that strangers cannot fill the log.
 */

export type Audit = ReturnType<typeof auditService>

interface AuditParts {
  store: AuditStore
  database: Pick<Database, 'afterRollback'>
  clock: Clock
  cursor: Cursor
  /** Whether this user is the owner of the server, who sees all. */
  isOwner: (user: string) => Promise<boolean>
  log: (message: string, details: Record<string, unknown>) => void
}

const sweepMs = 6 * 3_600_000

/** Where a call came from. */
type From = Pick<AnyCall['request'], 'id' | 'ip' | 'header'>

export function auditService({ store, database, clock, cursor, isOwner, log }: AuditParts) {
  const entryOf = (who: Who, request: From, action: AuditAction, { object, outcome, user }: Noted): AuditEntry => ({
    id: clock.id(),
    at: clock.now(),
    user_id: who.owner || user,
    actor_kind: who.kind,
    actor_id: who.id,
    action,
    object,
    outcome,
    ip: request.ip,
    user_agent: request.header('user-agent')?.slice(0, 512) ?? null,
    request_id: request.id,
  })

  async function refused({ action, names }: Audited, call: AnyCall, outcome: string): Promise<void> {
    if (call.who.kind === 'nobody' && outcome === 'quota_exceeded') return
    const noted = { object: named(call, names), outcome, user: null }
    try {
      await store.insert(entryOf(call.who, call.request, action, noted))
    } catch (error) {
      log('an audit entry could not be written', { err: error, action, outcome, request_id: call.request.id })
    }
  }

  async function recorded(audited: Audited, call: AnyCall, work: () => unknown): Promise<unknown> {
    let answer: unknown
    try {
      answer = await work()
    } catch (error) {
      const outcome = error instanceof Problem ? error.code : 'internal_error'
      await database.afterRollback(() => refused(audited, call, outcome))
      throw error
    }
    const noted = { object: named(call, audited.names) ?? madeId(answer), outcome: 'ok', user: signedIn(answer) }
    await store.insert(entryOf(call.who, call.request, audited.action, noted))
    return answer
  }

  async function sweep(): Promise<void> {
    await store.forget().catch((error: unknown) => log('old audit entries could not be forgotten', { err: error }))
  }
  const timer = setInterval(() => void sweep(), sweepMs).unref()

  return {
    /** The same calls, those that the log wants to know of recorded. */
    watch: (served: readonly Served[]): Served[] =>
      served.map((one) => {
        const found = actions.find(({ endpoint }) => endpoint === one.endpoint)
        if (found && !one.atOnce) throw new Error(`${found.action} is audited and not one transaction`)
        return found ? { ...one, handle: (call) => recorded(found, call, () => one.handle(call)) } : one
      }),

    /** Of a stranger who has tried something, known by now or not. */
    async note(action: AuditAction, request: From, noted: Noted): Promise<void> {
      const nobody: Who = { owner: '', kind: 'nobody', id: '', scopes: [] }
      await store.insert(entryOf(nobody, request, action, noted))
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

    /** Whether the log is whole: all of it for the owner of the server, what is about their own things for a member. */
    verify: async (who: Who): Promise<AuditVerdict> => verified(store, (await isOwner(who.owner)) ? null : who.owner),

    close: (): void => clearInterval(timer),
  }
}

/** What somebody did on the command line of the server. */
export const byOperator = (clock: Clock, user_id: string, action: AuditAction, object: string): AuditEntry => ({
  id: clock.id(),
  at: clock.now(),
  user_id,
  actor_kind: 'operator',
  actor_id: '',
  action,
  object,
  outcome: 'ok',
  ip: '',
  user_agent: null,
  request_id: '',
})

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
