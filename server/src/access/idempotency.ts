import type { Clock } from '@parley/store/clock'
import type { Seal } from '@parley/store/seal'
import type { Attempt, Begun, Idempotency, KeptAnswer } from '@parley/wire/idempotency'
import type { AttemptKey, IdempotencyStore } from './idempotency-store.ts'

/*
 * A request under an idempotency key is done once: the row that its first attempt inserts is the lock, and then the answer,
 * for 24 hours. Answers are sealed, since some of them show a key for the only time. An attempt that runs says so every
 * `beatMs`; one that has not for a minute died with its server, and may be made again. That repeats nothing: what changes
 * rows alone is kept in one transaction with its answer, and what does more is known again by the id that all attempts share.
 */

export interface IdempotencyParts {
  store: IdempotencyStore
  seal: Pick<Seal, 'open' | 'close'>
  clock: Pick<Clock, 'id'>
  log: (message: string, details?: Record<string, unknown>) => void
}

const beatMs = 15_000
const forgetEvery = 240

const keyOf = ({ owner, method, route, key }: Attempt): AttemptKey => ({ owner, route: `${method} ${route}`, key })
const placeOf = ({ route, key }: AttemptKey): string => `idempotent_answer.body.${route} ${key}`
/** Nobody has signed in: what has no owner is not kept. */
const isNobodys = ({ owner }: Attempt): boolean => owner === ''

export function openIdempotency({ store, seal, clock, log }: IdempotencyParts) {
  const running = new Map<Attempt, AttemptKey>()
  let beats = 0

  async function beat(): Promise<void> {
    if (running.size > 0) await store.beat([...running.values()])
    beats += 1
    if (beats % forgetEvery === 1) await store.forget()
  }

  const timer = setInterval(() => {
    beat().catch((error: unknown) => log('Idempotency keys could not be looked after.', { error }))
  }, beatMs).unref()

  async function seen(attempt: Attempt, at: AttemptKey): Promise<Begun | undefined> {
    const row = await store.get(at)
    if (row === undefined) return undefined
    if (row.fingerprint.toString('hex') !== attempt.fingerprint) return { kind: 'mismatch' }
    if (row.status === null || row.body === null) return { kind: 'busy' }
    const body = await seal.open(at.owner, placeOf(at), row.body.toString('utf8'))
    return { kind: 'replay', status: row.status, headers: row.headers ?? {}, body }
  }

  const idempotency: Idempotency = {
    async begin(attempt) {
      if (isNobodys(attempt)) return { kind: 'new' }
      const at = keyOf(attempt)
      // The row may be dropped between the two looks; then it is free.
      for (;;) {
        const id = await store.begin(at, Buffer.from(attempt.fingerprint, 'hex'), clock.id())
        if (id !== undefined) {
          running.set(attempt, at)
          return { kind: 'new', id }
        }
        const begun = await seen(attempt, at)
        if (begun !== undefined) return begun
      }
    },

    async end(attempt: Attempt, answer: KeptAnswer | undefined) {
      if (isNobodys(attempt)) return
      const at = keyOf(attempt)
      running.delete(attempt)
      if (answer === undefined) return store.drop(at)
      const body = Buffer.from(await seal.close(at.owner, placeOf(at), answer.body))
      await store.keep(at, { status: answer.status, headers: JSON.stringify(answer.headers), body })
    },
  }

  return {
    ...idempotency,
    /** Drops what is older than 24 hours; done every hour by itself. */
    forget: (): Promise<void> => store.forget(),
    /** Says that the attempts of this server still run; done every 15 s by itself. */
    beat,
    close: (): void => clearInterval(timer),
  }
}
