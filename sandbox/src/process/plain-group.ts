/*
 * Groups for a machine where this user may not make control groups: processes are found in /proc. A sandbox is its process
 * namespace, and looked for among those below what starts programs; without walls it is a mark in the environment, and looked
 * for everywhere. What one `spawn`
 * started carries a mark in its environment, or descends from what does; so only a program that both detaches itself and
 * clears its environment is missed, and that one ends with its sandbox.
 */
import { randomBytes } from 'node:crypto'
import { readFile, readdir, readlink } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Group, SandboxGroup } from './cgroup.ts'

const markName = 'PARLEY_SPAWN'
/** Says which sandbox without walls a process belongs to. */
export const sandboxMark = 'PARLEY_SANDBOX_ID'
const deadlineMs = 10_000

/** All processes of the process namespace of `init`; `starter` is the parent of those that wait outside. */
export function namespaceGroup(init: () => number | undefined, starter: () => number | undefined): SandboxGroup {
  const members = async () => {
    const pid = init()
    const wanted = pid === undefined ? undefined : await namespaceOf(pid)
    if (wanted === undefined) return []
    const pids = await below(await childrenOf(starter()))
    const theirs = await Promise.all(pids.map(namespaceOf))
    return pids.filter((_, index) => theirs[index] === wanted)
  }
  return {
    ...groupOf(members, {}, async (pids) => send(await gatekeepers(pids, starter()), 'SIGCONT')),
    child: () => markedGroup(init, starter),
    freeze: (frozen) => (frozen ? stop(members, starter) : goOn(members, starter)),
    hits: async () => ({ memory: 0, processes: 0 }),
  }
}

/** What carries the mark of this sandbox without walls, wherever it went, and everything below. */
export function sandboxGroup(id: string): SandboxGroup {
  const members = carrying([`${sandboxMark}=${id}`])
  return {
    ...groupOf(members, {}),
    child() {
      const mark = newMark()
      return groupOf(carrying([`${markName}=${mark}`]), { [markName]: mark })
    },
    freeze: (frozen) => (frozen ? stop(members, nobody) : goOn(members, nobody)),
    hits: async () => ({ memory: 0, processes: 0 }),
  }
}

/** Ends what a crash left of sandboxes without walls. */
export async function endSandboxes(ids: readonly string[]): Promise<void> {
  if (ids.length > 0) await groupOf(carrying(ids.map((id) => `${sandboxMark}=${id}`)), {}).kill()
}

/** Whatever process of this machine has one of these marks, and everything below. */
const carrying = (marks: readonly string[]) => async (): Promise<number[]> => {
  const pids = (await readdir('/proc')).filter((entry) => /^\d+$/.test(entry)).map(Number)
  const marked = await Promise.all(pids.map((pid) => isMarked(pid, marks)))
  return [...new Set(await below(pids.filter((_, index) => marked[index])))]
}

const newMark = () => randomBytes(12).toString('hex')
/** Parent of no process: nobody waits outside. */
const nobody = () => -1

/** What carries a new mark, and everything below: in the hands of the starter, or of `init` when it has detached itself. */
function markedGroup(init: () => number | undefined, starter: () => number | undefined): Group {
  const mark = newMark()
  const members = async () => {
    const candidates = [...(await childrenOf(starter())), ...(await below(await childrenOf(init())))]
    const marked = await Promise.all(candidates.map((pid) => isMarked(pid, [`${markName}=${mark}`])))
    return [...new Set(await below(candidates.filter((_, index) => marked[index])))]
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

/**
 * The gatekeepers first, so that none stops itself later, when all are to go on again. Who waits in the kernel stops when that
 * is over, before anything else is done; a shell may wait there for a program that was stopped while it began.
 */
async function stop(members: () => Promise<number[]>, starter: () => number | undefined): Promise<void> {
  const told = new Set<number>()
  await until('stop', async () => {
    const pids = await members()
    const running = await inState(
      [...(await gatekeepers(pids, starter())), ...pids],
      (state, pid) => !/^[Tt]$/.test(state) && !(state === 'D' && told.has(pid)),
    )
    send(running, 'SIGSTOP')
    for (const pid of running) told.add(pid)
    return running.length === 0
  })
}

/** All are told at first: that also takes the stop back which one in the kernel has not come to yet. */
async function goOn(members: () => Promise<number[]>, starter: () => number | undefined): Promise<void> {
  send(await members(), 'SIGCONT')
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

/** Ends a program with what it has begun, which may wait for it for ever: it is stopped first, so that it begins no more. */
export async function endWithAll(pid: number): Promise<void> {
  send([pid], 'SIGSTOP')
  await until('stop', async () => (await inState([pid], (state) => !/^[TtD]$/.test(state))).length === 0)
  send(await below([pid]), 'SIGKILL')
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
    async kill() {
      let empty = 0
      await until('end', async () => {
        const pids = await members()
        const alive = await inState(pids, () => true)
        send(alive, 'SIGKILL')
        await release(pids)
        // Twice, for one that changed hands while it was looked for is seen the next time.
        empty = alive.length === 0 ? empty + 1 : 0
        return empty > 1
      })
    },
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
async function inState(pids: readonly number[], which: (state: string, pid: number) => boolean): Promise<number[]> {
  const states = await Promise.all(pids.map(stateOf))
  return pids.filter((pid, index) => {
    const state = states[index]
    return state !== undefined && state !== 'Z' && state !== 'X' && which(state, pid)
  })
}

/** These and all that descends from them. */
async function below(pids: readonly number[]): Promise<number[]> {
  const children = await Promise.all(pids.map(childrenOf))
  return pids.length === 0 ? [] : [...pids, ...(await below([...new Set(children.flat())]))]
}

/** Of every thread: each has those that it started. */
async function childrenOf(pid: number | undefined): Promise<number[]> {
  const threads = await readdir(`/proc/${pid}/task`).catch(() => [])
  const lists = await Promise.all(
    threads.map((thread) => readFile(`/proc/${pid}/task/${thread}/children`, 'utf8').catch(() => '')),
  )
  return lists.flatMap((list) => list.split(' ').filter(Boolean).map(Number))
}

const namespaceOf = (pid: number) => readlink(`/proc/${pid}/ns/pid`).catch(() => undefined)
async function isMarked(pid: number, marks: readonly string[]): Promise<boolean> {
  const env = await readFile(`/proc/${pid}/environ`, 'latin1').catch(() => '')
  return marks.some((mark) => env.includes(mark))
}

/** Fields after the name, which is in brackets and may hold anything. */
const statOf = async (pid: number) => {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
  return text.slice(text.lastIndexOf(')') + 2).split(' ')
}
const stateOf = async (pid: number) => (await statOf(pid))[0] || undefined
const parentOf = async (pid: number) => Number((await statOf(pid))[1]) || undefined
