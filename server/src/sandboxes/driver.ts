import { dockerDriver } from '@parley/sandbox/docker/driver'
import type { Driver, SandboxSpec } from '@parley/sandbox/driver'
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
  process: (place, { unisolated }) => processDriver({ ...place, unisolated }),
  docker: (place, { dockerHost, sandboxImage }) => dockerDriver({ ...place, host: dockerHost, image: sandboxImage }),
}

type DriverConfig = Pick<Config, 'sandbox' | 'unisolated' | 'dockerHost' | 'sandboxImage'>

/** Throws when what is configured cannot be: one line that says why. */
export const openDriver = (config: DriverConfig, place: Place): Driver => drivers[config.sandbox](place, config)
