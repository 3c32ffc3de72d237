import { statfs } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Finding, Limit } from '@parley/contract/health'
import { Problem } from '@parley/contract/problems'
import type { Clock } from '@parley/store/clock'
import { defaultLimits, type Limits, namedLimits } from '../limits.ts'
import type { Health } from './service.ts'

/** What the owner of the server asks about it: whether all it stands on is sound, and what it is bounded by. */

export type Examination = ReturnType<typeof examination>

interface Parts {
  health: Pick<Health, 'health'>
  /** With folders of its own: what the server keeps in order would clear away a sandbox that no row knows. */
  doctor: () => Promise<Finding[]>
  limits: Limits
  stateDir: string
  clock: Clock
  isOwner: (user: string) => Promise<boolean>
}

/** Less room than this and a sandbox, or the database, may fail soon. */
const fewBytes = 2 * 2 ** 30

export function examination({ health, doctor, limits, stateDir, clock, isOwner }: Parts) {
  /** One at a time: each starts a sandbox. */
  let going: Promise<Finding[]> | undefined

  async function database(): Promise<Finding> {
    const from = clock.millis()
    const failure = await health.health().then(
      () => null,
      (error: unknown) => (error instanceof Error ? error.message : String(error)),
    )
    const detail = failure ?? `It answers in ${clock.millis() - from} ms.`
    return { check: 'database', ok: failure === null, fatal: true, detail, fix: failure && 'Look at its own log.' }
  }

  async function disk(): Promise<Finding> {
    // The first sandbox makes the folder itself.
    const { bavail, blocks, bsize } = await statfs(stateDir).catch(() => statfs(dirname(stateDir)))
    const [free, whole] = [bavail * bsize, blocks * bsize].map((bytes) => `${(bytes / 2 ** 30).toFixed(1)} GiB`)
    const ok = bavail * bsize >= fewBytes
    const detail = `${free} of ${whole} are free where sandboxes keep their files.`
    return { check: 'disk', ok, fatal: false, detail, fix: 'Delete sandboxes, or give the server more room.' }
  }

  const all = async () => [...(await Promise.all([database(), disk()])), ...(await doctor())]

  return {
    async examine(user: string): Promise<Finding[]> {
      if (!(await isOwner(user))) throw new Problem('insufficient_scope', 'Only the owner of the server may do this.')
      going ??= all().finally(() => (going = undefined))
      return going
    },

    limits(): Limit[] {
      const usual = namedLimits(defaultLimits())
      return [...namedLimits(limits)].map(([name, value]) => ({ name, value, is_default: usual.get(name) === value }))
    },
  }
}
