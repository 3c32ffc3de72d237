import { dockerDriver } from '@parley/sandbox/docker/driver'
import type { Driver, Finding, SandboxSpec } from '@parley/sandbox/driver'
import type { Dial, Gate } from '@parley/sandbox/egress'
import { processDriver } from '@parley/sandbox/process/driver'
import type { Config } from '../config.ts'

interface Place {
  /** Where sandboxes keep their files, and where their sockets are. */
  stateDir: string
  runtimeDir: string
  egress: { gate: Gate; dial: Dial }
  /** Sandboxes of this shape are kept ready, so many. */
  spares?: { most: number; workingDir: string; limits: SandboxSpec['limits'] }
  /** What it does that takes long, and what went wrong on the way out. */
  log: (line: string) => void
}

const drivers: Record<Config['sandbox'], (place: Place, config: DriverConfig) => Driver> = {
  process: (place) => processDriver(place),
  docker: (place, { dockerHost, sandboxImages: [image = ''] }) => dockerDriver({ ...place, host: dockerHost, image }),
}

type DriverConfig = Pick<Config, 'sandbox' | 'unisolated' | 'dockerHost' | 'sandboxImages'>

/** Throws when what is configured cannot be: one line that says why. */
export function openDriver(config: DriverConfig, place: Place): Driver {
  const driver = drivers[config.sandbox](place, config)
  if (!config.unisolated) return driver
  return { ...driver, doctor: async (signal) => [notDemanded, ...(await driver.doctor(signal)).map(tolerated)] }
}

/** Said first, at every start, by the doctor and in the examination, so that nobody forgets it. */
const notDemanded: Finding = {
  check: 'isolation of sandboxes',
  ok: false,
  fatal: false,
  detail:
    'DANGER: it is not demanded (PARLEY_SANDBOX_DANGEROUSLY_UNISOLATED). Where a wall below does not stand, what an agent runs can read and change what this server can.',
  fix: 'unset PARLEY_SANDBOX_DANGEROUSLY_UNISOLATED and mend what `parley doctor` finds',
}

const tolerated = (finding: Finding): Finding => ({ ...finding, fatal: false })
