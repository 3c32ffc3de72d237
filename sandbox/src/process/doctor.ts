import { constants } from 'node:fs'
import { access, readFile } from 'node:fs/promises'
import { broken, tryCanary } from '../canary.ts'
import type { Driver, Finding } from '../driver.ts'
import type { Cgroups } from './cgroup.ts'

const programs = {
  bwrap: 'bubblewrap',
  socat: 'socat',
  setpriv: 'util-linux',
  nsenter: 'util-linux',
  unshare: 'util-linux',
}

/** Starts a canary and proves on it what sandboxes are promised to be. */
export async function doctor(driver: Driver, cgroups: Cgroups | undefined, signal: AbortSignal): Promise<Finding[]> {
  const missing = await missingPrograms()
  if (missing.length > 0) return missing
  const limits = limitFindings(cgroups, true)
  const found = await tryCanary(driver, null, signal)
  return found instanceof Error ? [await startFailure(found), ...limits] : [...found, ...limits]
}

export const noWalls =
  'There are no walls around this sandbox: what runs in it can read and change all that the user of the server can.'

interface Unwalled {
  driver: Driver
  cgroups: Cgroups | undefined
  why: readonly Finding[]
  signal: AbortSignal
}

/** What is so where there are no walls, why there are none, and whether a sandbox starts all the same. */
export async function unwalledDoctor({ driver, cgroups, why, signal }: Unwalled): Promise<Finding[]> {
  const none: Finding = {
    check: 'walls of sandboxes',
    ok: false,
    fatal: false,
    detail:
      'DANGER: there are none. Sandboxes are plain processes of the user of this server: what an agent runs can read and change this server, its database and keys, the files and secrets of everybody on it, and use the network and every port of this machine.',
    fix: 'mend what is below, and start again: new sandboxes have walls then',
  }
  const found = await tryCanary(driver, null, signal, { walls: false })
  const canary = found instanceof Error ? [broken('a sandbox without walls starts', found.message, null)] : found
  return [none, ...why, ...canary, ...limitFindings(cgroups, false)]
}

/**
 * Why this machine makes no walls. Empty when it does, though some may be missing, and when it was only too slow to say: nobody
 * shall lose them for that.
 */
export async function whyNoWalls(driver: Driver, signal: AbortSignal): Promise<Finding[]> {
  const missing = await missingPrograms()
  if (missing.length > 0) return missing
  const found = await tryCanary(driver, null, signal)
  return found instanceof Error && !/^(Timeout|Abort)Error$/.test(found.name) ? [await startFailure(found)] : []
}

async function missingPrograms(): Promise<Finding[]> {
  const findings: Finding[] = []
  for (const [program, pack] of Object.entries(programs)) {
    const there = await access(`/usr/bin/${program}`, constants.X_OK).then(
      () => true,
      () => false,
    )
    if (!there) findings.push(broken(program, `/usr/bin/${program} is missing`, `apt-get install -y ${pack}`))
  }
  return findings
}

function limitFindings(cgroups: Cgroups | undefined, walls: boolean): Finding[] {
  const enforced = cgroups?.enforced ?? { memory: false, processes: false, cpu: false, freeze: false }
  const fix = 'run as root, or as a systemd service with Delegate=yes, with a writable /sys/fs/cgroup'
  const held = Object.entries(enforced).filter(([name]) => name !== 'freeze')
  return [
    ...held.map(([name, ok]): Finding => {
      const without =
        walls || name === 'memory' ? 'the limit holds for single processes only' : 'without walls there is no limit'
      const detail = ok ? 'held by a control group' : `no writable control group: ${without}`
      return { check: `limit of ${name}`, ok, fatal: false, detail, fix: ok ? null : fix }
    }),
    {
      check: 'limit of disk',
      ok: true,
      fatal: false,
      detail: 'files are counted, and what goes on writing beyond the limit is ended',
      fix: null,
    },
  ]
}

async function startFailure({ message }: Error): Promise<Finding> {
  for (const { path, says, fix } of hindrances) {
    const said = await readFile(path, 'utf8').catch(() => undefined)
    if (said !== undefined && says.test(said)) return broken('a sandbox starts', message, fix)
  }
  return broken('a sandbox starts', message, null)
}

const inContainer =
  'run the container with --security-opt seccomp=unconfined --security-opt apparmor=unconfined --security-opt systempaths=unconfined, or choose another PARLEY_SANDBOX'

/** What is known to keep sandboxes from starting: a file, what it says then, and what helps. */
const hindrances = [
  {
    path: '/proc/sys/kernel/apparmor_restrict_unprivileged_userns',
    says: /^1/,
    fix: 'sysctl -w kernel.apparmor_restrict_unprivileged_userns=0, or an AppArmor profile with userns for /usr/bin/bwrap',
  },
  { path: '/proc/sys/user/max_user_namespaces', says: /^0\s*$/, fix: 'sysctl -w user.max_user_namespaces=10000' },
  { path: '/.dockerenv', says: /^/, fix: inContainer },
  { path: '/run/.containerenv', says: /^/, fix: inContainer },
]
