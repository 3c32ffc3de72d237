import { spawnSync } from 'node:child_process'
import { mkdtemp, readFile, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { specOf, type Opened } from '../conformance-sentence.ts'
import { openGreeting } from '../greeting.fixture.ts'
import { processDriver, type ProcessDriverOptions } from './driver.ts'

export type More = Pick<ProcessDriverOptions, 'ungrouped' | 'unwalled'>

/** A driver in this folder, from which nothing leads out. */
export const driverIn = (folder: string, more: More = {}) =>
  processDriver({
    stateDir: join(folder, 'state'),
    runtimeDir: join(folder, 'run'),
    egress: {
      gate: { decide: async () => ({ allow: false, reason: 'nothing is allowed' }) },
      dial: () => Promise.reject(new Error('not dialled')),
    },
    log: () => undefined,
    ...more,
  })

/** The driver before an upstream that greets; the gate knows one host. */
export async function openProcess(more: More = {}): Promise<Opened> {
  const folder = await mkdtemp(join(tmpdir(), 'parley-sandboxes-'))
  const greeting = await openGreeting()
  const driver = processDriver({
    stateDir: join(folder, 'state'),
    runtimeDir: join(folder, 'run'),
    egress: greeting.egress,
    spares: [{ image: null, most: 1, limits: specOf({}).limits }],
    log: () => undefined,
    ...more,
  })
  const findings = await driver.doctor(AbortSignal.timeout(50_000))
  const fatal = findings.filter(({ ok, fatal }) => fatal && !ok)
  const close = async () => {
    await driver[Symbol.asyncDispose]()
    greeting.close()
    await rm(folder, { recursive: true })
  }
  if (fatal.length > 0) await close()
  if (fatal.length > 0) throw new Error(fatal.map(({ check, detail, fix }) => `${check}: ${detail}; ${fix}`).join('\n'))
  return {
    driver,
    isolated: more.unwalled === undefined,
    endSandbox: more.unwalled === undefined ? killBubblewrap : killFirst,
    limits: findings.some(({ check, ok }) => check === 'limit of memory' && ok),
    async leftovers(id) {
      const found = [...(await processesNaming(id)), ...(await mountsNaming(id))]
      for (const part of ['state', 'run'])
        if ((await readdir(join(folder, part))).includes(id)) found.push(join(part, id))
      const groups = spawnSync('find', ['/sys/fs/cgroup', '-type', 'd', '-name', id], {
        encoding: 'utf8',
      }).stdout.trim()
      return groups === '' ? found : [...found, groups]
    },
    close,
  }
}

/** Names the processes of this machine that have to do with a sandbox. */
export async function processesNaming(id: string): Promise<string[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const said = await Promise.all(
    pids.map(async (pid) => {
      const text = (file: string) => readFile(`/proc/${pid}/${file}`, 'latin1').catch(() => '')
      // One that has ended may wait for a process 1 that takes its time.
      return /\) [ZX]/.test(await text('stat')) ? '' : (await text('cgroup')) + (await text('environ'))
    }),
  )
  return pids.filter((_, index) => said[index]?.includes(id)).map((pid) => `process ${pid}`)
}

/** The first process of a sandbox without walls has its id as an argument. */
async function killFirst(id: string): Promise<void> {
  for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
    const line = (await readFile(`/proc/${pid}/cmdline`, 'latin1').catch(() => '')).split('\0')
    if (line.includes(id)) process.kill(Number(pid), 'SIGKILL')
  }
}

const mountsNaming = async (id: string) =>
  (await readFile('/proc/self/mounts', 'utf8')).split('\n').filter((line) => line.includes(id))

/** Killing bubblewrap, which is a child of what starts programs for this process, is what a crash looks like. */
async function killBubblewrap(id: string): Promise<void> {
  const starters = await childrenOf('self', process.pid)
  for (const pid of (await Promise.all(starters.map((starter) => childrenOf(starter, starter)))).flat()) {
    const [init] = await childrenOf(pid, pid)
    const mounts = await readFile(`/proc/${init}/mountinfo`, 'utf8').catch(() => '')
    const name = await readFile(`/proc/${pid}/comm`, 'utf8').catch(() => '')
    if (name.trim() === 'bwrap' && mounts.includes(id)) process.kill(Number(pid), 'SIGKILL')
  }
}

const childrenOf = async (of: string, thread: string | number) =>
  (await readFile(`/proc/${of}/task/${thread}/children`, 'utf8').catch(() => '')).trim().split(' ').filter(Boolean)
