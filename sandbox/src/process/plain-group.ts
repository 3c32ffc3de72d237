/*
 * Groups for a machine where this user may not make control groups: processes are found in /proc. A sandbox is its
 * process namespace. What one `spawn` started carries a mark in its environment, or descends from what does; so only a
 * program that both detaches itself and clears its environment is missed, and that one ends with its sandbox.
 */
import { randomBytes } from 'node:crypto'
import { readFile, readdir, readlink } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Group, SandboxGroup } from './cgroup.ts'

const markName = 'PARLEY_SPAWN'
const deadlineMs = 10_000

/** All processes of the process namespace of `init`; `starter` is the parent of those that wait outside. */
export function namespaceGroup(init: () => number | undefined, starter: () => number | undefined): SandboxGroup {
  const members = async () => {
    const pid = init()
    const wanted = pid === undefined ? undefined : await namespaceOf(pid)
    if (wanted === undefined) return []
    const pids = await allPids()
    const theirs = await Promise.all(pids.map(namespaceOf))
    return pids.filter((_, index) => theirs[index] === wanted)
  }
  return {
    ...groupOf(members, {}, async (pids) => send(await gatekeepers(pids, starter()), 'SIGCONT')),
    child: markedGroup,
    freeze: (frozen) => (frozen ? stop(members, starter) : goOn(members, starter)),
    hits: async () => ({ memory: 0, processes: 0 }),
  }
}

/** What carries a new mark, and everything that still names one of those as an ancestor. */
export function markedGroup(): Group {
  const mark = randomBytes(12).toString('hex')
  const members = async () => {
    const pids = await allPids()
    const seen = await Promise.all(
      pids.map(async (pid) => ({ pid, marked: await isMarked(pid, mark), parent: await parentOf(pid) })),
    )
    const found = new Set(seen.filter(({ marked }) => marked).map(({ pid }) => pid))
    for (let size = -1; size !== found.size;) {
      size = found.size
      for (const { pid, parent } of seen) if (parent !== undefined && found.has(parent)) found.add(pid)
    }
    return [...found]
  }
  return groupOf(members, { [markName]: mark })
}

/**
 * The programs outside that wait for one inside (`nsenter`). They stop themselves when that one is stopped and do not go
 * on with it; and while they are stopped, nobody takes note of its end and the namespace cannot end either.
 */
async function gatekeepers(pids: readonly number[], starter: number | undefined): Promise<number[]> {
  const parents = [...new Set(await Promise.all(pids.map(parentOf)))].filter((pid) => pid !== undefined)
  const above = await Promise.all(parents.map(parentOf))
  return parents.filter((pid, index) => above[index] === starter && !pids.includes(pid))
}

/** The gatekeepers first, so that none stops itself later, when all are to go on again. */
async function stop(members: () => Promise<number[]>, starter: () => number | undefined): Promise<void> {
  await until('stop', async () => {
    const pids = await members()
    const running = await inState([...(await gatekeepers(pids, starter())), ...pids], (state) => !/^[Tt]$/.test(state))
    send(running, 'SIGSTOP')
    return running.length === 0
  })
}

async function goOn(members: () => Promise<number[]>, starter: () => number | undefined): Promise<void> {
  await until('go on', async () => {
    const pids = await members()
    const stopped = await inState(pids, (state) => state === 'T')
    send(stopped, 'SIGCONT')
    const waiting =
      stopped.length > 0 ? [] : await inState(await gatekeepers(pids, starter()), (state) => state === 'T')
    send(waiting, 'SIGCONT')
    return stopped.length + waiting.length === 0
  })
}

function groupOf(
  members: () => Promise<number[]>,
  mark: Group['mark'],
  release: (pids: number[]) => Promise<void> = async () => undefined,
): Group {
  return {
    joins: [],
    mark,
    members,
    kill: () =>
      until('end', async () => {
        const pids = await members()
        const alive = await inState(pids, () => true)
        send(alive, 'SIGKILL')
        await release(pids)
        return alive.length === 0
      }),
    remove: async () => undefined,
  }
}

async function until(what: string, done: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + deadlineMs
  while (!(await done())) {
    if (performance.now() > deadline) throw new Error(`processes did not ${what} within ${deadlineMs / 1000} s`)
    await sleep(2)
  }
}

function send(pids: readonly number[], name: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, name)
    } catch {
      // It has ended since the list was read.
    }
  }
}

/** Those that live and are in such a state. */
async function inState(pids: readonly number[], which: (state: string) => boolean): Promise<number[]> {
  const states = await Promise.all(pids.map(stateOf))
  return pids.filter((_, index) => {
    const state = states[index]
    return state !== undefined && state !== 'Z' && state !== 'X' && which(state)
  })
}

const allPids = async () => (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number)
const namespaceOf = (pid: number) => readlink(`/proc/${pid}/ns/pid`).catch(() => undefined)
const isMarked = async (pid: number, mark: string) =>
  (await readFile(`/proc/${pid}/environ`, 'latin1').catch(() => '')).includes(`${markName}=${mark}`)

/** Fields after the name, which is in brackets and may hold anything. */
const statOf = async (pid: number) => {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
  return text.slice(text.lastIndexOf(')') + 2).split(' ')
}
const stateOf = async (pid: number) => (await statOf(pid))[0] || undefined
const parentOf = async (pid: number) => Number((await statOf(pid))[1]) || undefined
