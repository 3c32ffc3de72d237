import { Problem } from '@parley/contract/problems'
import type { Driver, SandboxSpec as Wanted } from '@parley/sandbox/driver'
import type { Limits } from '../limits.ts'
import { workerPorts } from './port-links.ts'
import { imageOf } from './spec.ts'
import type { SandboxRow, SandboxStore } from './store.ts'

/*
 * From a row to something that can be worked in: started the first time, opened again when the server was restarted, resumed
 * when it was paused.
 */

export interface OpenParts {
  store: SandboxStore
  driver: Driver
  limits: Limits
  replica: string
  /** What an owner's sandboxes are told about forges and authorship. */
  describe: (owner: string) => Promise<Pick<Wanted, 'gitRewrites' | 'gitIdentity'>>
}

export interface Opening {
  tell?: (line: string) => void
  /** For who keeps something of it before it is paused, which waits for that; nobody else may open it then. */
  leaving?: boolean
}

/** `open` resolves when the sandbox can be worked in. Rejects with `gone`, `sandbox_error`, or what the driver says. */
export function opener({ store, driver, limits, replica, describe }: OpenParts) {
  const opening = new Map<string, Promise<void>>()

  async function wanted(row: SandboxRow): Promise<Wanted> {
    return {
      id: row.id,
      image: imageOf(row.spec_id),
      env: Object.fromEntries(Object.entries(workerPorts).map(([name, port]) => [name, String(port)])),
      limits: limits.sandbox,
      ...(await describe(row.owner_id)),
    }
  }

  /** Its folder is on the machine of another server, which alone can open it. */
  const elsewhere = (row: SandboxRow): boolean => row.replica !== null && row.replica !== replica

  /** One opening at a time for each sandbox, whoever asks. */
  function open(id: string, signal: AbortSignal, how: Opening = {}): Promise<void> {
    if (how.leaving) return openNow(id, signal, how)
    const going = opening.get(id) ?? openNow(id, signal, how).finally(() => opening.delete(id))
    opening.set(id, going)
    return going
  }

  async function openNow(id: string, signal: AbortSignal, how: Opening): Promise<void> {
    const { tell = () => {}, leaving = false } = how
    const row = await store.get(id)
    if (row === undefined || row.wanted === 'removed') throw new Problem('gone', 'The sandbox no longer exists.')
    if (row.status === 'ERROR') throw new Problem('sandbox_error', row.status_detail ?? undefined)
    if (elsewhere(row)) throw new Problem('unavailable', 'The sandbox is on another server.', { retryAfter: 5 })
    const seen = await driver.look(id)
    if (seen.state === 'running' && row.status === 'RUNNING') return
    if (seen.state === 'error') throw new Problem('sandbox_error', seen.detail ?? undefined)
    if (row.wanted === 'paused' && !leaving) throw new Problem('state_conflict', 'The sandbox is being paused.')
    if (seen.state === 'missing' && row.status !== 'STARTING') return lost(row)
    try {
      if (seen.state === 'paused') await driver.resume(await wanted(row), signal)
      else await driver.start(await wanted(row), signal, nowAndThen(tell))
    } catch (error) {
      if (row.status === 'STARTING') await failed(row, error)
      throw error
    }
    await store.change(id, ['STARTING', 'PAUSED', 'RUNNING'], {
      status: 'RUNNING',
      status_detail: driver.warning,
      status_until: null,
      replica,
    })
  }

  async function lost(row: SandboxRow): Promise<never> {
    await store.change(row.id, ['RUNNING', 'PAUSED'], { status: 'MISSING', status_detail: 'Its files are gone.' })
    throw new Problem('gone', 'The sandbox and its files are gone.')
  }

  async function failed(row: SandboxRow, error: unknown): Promise<void> {
    const detail = error instanceof Error ? error.message : String(error)
    await store.change(row.id, ['STARTING'], { status: 'ERROR', status_detail: detail, status_until: null })
  }

  return {
    open,
    /** Waits for one that saw the row before a pause was written there; those after it refuse. */
    async settled(id: string): Promise<void> {
      await opening.get(id)?.catch(() => {})
    },
  }
}

const pauseMs = 2_000

/** Of what is said in quick succession the first is heard, and the next after a while. */
function nowAndThen(tell: (line: string) => void): (line: string) => void {
  let last = -Infinity
  return (line) => {
    if (performance.now() - last < pauseMs) return
    last = performance.now()
    tell(line)
  }
}
