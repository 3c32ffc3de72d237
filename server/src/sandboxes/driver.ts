import type { Driver, Finding } from '@parley/sandbox/driver'
import type { Dial, Gate } from '@parley/sandbox/egress'
import type { Kept } from '@parley/sandbox/spares'
import type { Config } from '../config.ts'

interface Place {
  /** Where sandboxes keep their files, and where their sockets are. */
  stateDir: string
  runtimeDir: string
  egress: { gate: Gate; dial: Dial }
  /** Sandboxes of these shapes are kept ready, so many. */
  spares?: readonly Kept[]
  /** What it does that takes long, and what went wrong on the way out. */
  log: (line: string) => void
}

/** Each is loaded when it is chosen: what one kind needs shall not make the start of another longer. */
const drivers: Record<Config['sandbox'], (place: Place, config: DriverConfig) => Promise<Driver>> = {
  async process(place, { unisolated }) {
    const { processDriver } = await import('@parley/sandbox/process/driver')
    const driver = processDriver(place)
    if (!unisolated) return driver
    const { whyNoWalls } = await import('@parley/sandbox/process/doctor')
    const unwalled = await whyNoWalls(driver, AbortSignal.timeout(triesMs))
    if (unwalled.length === 0) return driver
    await driver[Symbol.asyncDispose]()
    return processDriver({ ...place, unwalled })
  },
  async docker(place, { dockerHost, sandboxImages: [image = ''] }) {
    const { dockerDriver } = await import('@parley/sandbox/docker/driver')
    return dockerDriver({ ...place, host: dockerHost, image })
  },
  async kubernetes(place, { kubernetes, sandboxImages: [image = ''] }) {
    const { kubernetesDriver } = await import('@parley/sandbox/kubernetes/driver')
    return kubernetesDriver({ ...place, ...kubernetes, image })
  },
}

/** How long it may take to find out whether there can be walls. */
const triesMs = 60_000

type DriverConfig = Pick<Config, 'sandbox' | 'unisolated' | 'dockerHost' | 'kubernetes' | 'sandboxImages'>

/** Rejects when what is configured cannot be: one line that says why. */
export async function openDriver(config: DriverConfig, place: Place): Promise<Driver> {
  const driver = await drivers[config.sandbox](place, config)
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
