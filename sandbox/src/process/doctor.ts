import { randomUUID } from 'node:crypto'
import { constants } from 'node:fs'
import { access, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Driver, Finding, Hands, SandboxSpec } from '../driver.ts'
import { probes } from '../probes.ts'
import type { Cgroups } from './cgroup.ts'

const programs = {
  bwrap: 'bubblewrap',
  socat: 'socat',
  setpriv: 'util-linux',
  nsenter: 'util-linux',
  unshare: 'util-linux',
}
const mebibyte = 2 ** 20

/** Starts a canary and proves on it what sandboxes are promised to be. */
export async function doctor(driver: Driver, cgroups: Cgroups | undefined, signal: AbortSignal): Promise<Finding[]> {
  const missing = await missingPrograms()
  if (missing.length > 0) return missing
  const limits = limitFindings(cgroups)
  const spec: SandboxSpec = {
    id: randomUUID(),
    image: null,
    env: {},
    limits: { memory: 256 * mebibyte, processes: 64, cpu: 1, disk: 64 * mebibyte },
    workingDir: '/workspace',
  }
  try {
    await driver.start(spec, signal)
    const hands = await driver.hands(spec.id)
    return [fine('a sandbox starts'), ...(await probe(hands, signal)), ...(await egress(hands, signal)), ...limits]
  } catch (error) {
    return [await startFailure(error), ...limits]
  } finally {
    await driver.remove(spec.id)
  }
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

/** All probes, each a finding; a wall that does not stand is fatal. */
async function probe(hands: Hands, signal: AbortSignal): Promise<Finding[]> {
  const folder = await mkdtemp(join(tmpdir(), 'parley-doctor-'))
  const server = createServer((socket) => socket.destroy())
  try {
    const secret = join(folder, 'secret')
    await writeFile(secret, 'host', { mode: 0o600 })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const args = [String((server.address() as AddressInfo).port), secret]
    const findings: Finding[] = []
    for (const { name, script } of probes) {
      const { stdout, timedOut } = await hands.run({ script, args, timeoutMs: 10_000, signal })
      const wrong = timedOut ? 'did not end' : stdout.toString().trim()
      findings.push(wrong === '' ? fine(name) : broken(name, wrong.slice(0, 300), null))
    }
    return findings
  } finally {
    server.close()
    await rm(folder, { recursive: true })
  }
}

async function egress(hands: Hands, signal: AbortSignal): Promise<Finding[]> {
  const check = 'the way out is the proxy'
  // Not a whole URL: the proxy answers this by itself, without asking anybody.
  const script = `printf 'GET / HTTP/1.0\\r\\n\\r\\n' | socat -T5 - TCP4:127.0.0.1:3128`
  const { stdout } = await hands.run({ script, timeoutMs: 10_000, signal })
  return [
    stdout.toString().startsWith('HTTP/1.1 400')
      ? fine(check)
      : broken(check, 'the egress proxy does not answer', null),
  ]
}

function limitFindings(cgroups: Cgroups | undefined): Finding[] {
  const enforced = cgroups?.enforced ?? { memory: false, processes: false, cpu: false, freeze: false }
  const fix = 'run as root, or as a systemd service with Delegate=yes, with a writable /sys/fs/cgroup'
  const held = Object.entries(enforced).filter(([name]) => name !== 'freeze')
  return [
    ...held.map(([name, ok]): Finding => {
      const detail = ok
        ? 'held by a control group'
        : 'no writable control group: the limit holds for single processes only'
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

async function startFailure(error: unknown): Promise<Finding> {
  const detail = error instanceof Error ? error.message : String(error)
  const restricted = await readFile('/proc/sys/kernel/apparmor_restrict_unprivileged_userns', 'utf8').catch(() => '0')
  const most = await readFile('/proc/sys/user/max_user_namespaces', 'utf8').catch(() => '1')
  let fix: string | null = null
  if (restricted.trim() === '1')
    fix =
      'sysctl -w kernel.apparmor_restrict_unprivileged_userns=0, or an AppArmor profile with userns for /usr/bin/bwrap'
  if (most.trim() === '0') fix = 'sysctl -w user.max_user_namespaces=10000'
  return broken('a sandbox starts', detail, fix)
}

const fine = (check: string): Finding => ({ check, ok: true, fatal: false, detail: 'yes', fix: null })
const broken = (check: string, detail: string, fix: string | null): Finding => ({
  check,
  ok: false,
  fatal: true,
  detail,
  fix,
})
