/*
 * Groups for a machine where this user may not make control groups: processes are found in /proc. What a program
 * detached from itself is found only by its sandbox's process namespace, so it ends with the sandbox.
 */
import { readFile, readdir, readlink } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Group, SandboxGroup } from './cgroup.ts'

/** All processes of the process namespace of `init`. */
export function namespaceGroup(init: () => number | undefined): SandboxGroup {
  const members = async () => {
    const pid = init()
    const wanted = pid === undefined ? undefined : await namespaceOf(pid)
    if (wanted === undefined) return []
    const pids = await allPids()
    const theirs = await Promise.all(pids.map(namespaceOf))
    return pids.filter((_, index) => theirs[index] === wanted)
  }
  return {
    ...groupOf(members),
    child() {
      throw new Error('a namespace has no smaller groups; use descendantGroup')
    },
    async freeze(frozen) {
      const deadline = performance.now() + 10_000
      while (performance.now() < deadline) {
        const pids = await members()
        const states = await Promise.all(pids.map(stateOf))
        const wrong = pids.filter((_, index) => states[index] !== 'Z' && (states[index] === 'T') !== frozen)
        if (wrong.length === 0) return
        for (const pid of wrong) send(pid, frozen ? 'SIGSTOP' : 'SIGCONT')
        await sleep(2)
      }
      throw new Error(`the processes of a sandbox did not ${frozen ? 'stop' : 'go on'} within 10 s`)
    },
    hits: async () => ({ memory: 0, processes: 0 }),
  }
}

/** A process and everything that still names it as an ancestor. */
export function descendantGroup(root: () => number | undefined): Group {
  return groupOf(async () => {
    const top = root()
    if (top === undefined) return []
    const pids = await allPids()
    const parents = new Map(await Promise.all(pids.map(async (pid) => [pid, await parentOf(pid)] as const)))
    const below = (pid: number | undefined, depth = 0): boolean =>
      pid !== undefined && depth < 1000 && (pid === top || below(parents.get(pid), depth + 1))
    return pids.filter((pid) => below(pid))
  })
}

function groupOf(members: () => Promise<number[]>): Group {
  return {
    joins: [],
    members,
    async kill() {
      const deadline = performance.now() + 10_000
      while (performance.now() < deadline) {
        const pids = await members()
        const states = await Promise.all(pids.map(stateOf))
        const alive = pids.filter((_, index) => states[index] !== undefined && states[index] !== 'Z')
        if (alive.length === 0) return
        for (const pid of alive) send(pid, 'SIGKILL')
        await sleep(2)
      }
      throw new Error('processes did not end within 10 s of KILL')
    },
    remove: async () => undefined,
  }
}

function send(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch {
    // It has ended since the list was read.
  }
}

const allPids = async () => (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number)
const namespaceOf = (pid: number) => readlink(`/proc/${pid}/ns/pid`).catch(() => undefined)

/** Fields after the name, which is in brackets and may hold anything. */
const statOf = async (pid: number) => {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
  return text.slice(text.lastIndexOf(')') + 2).split(' ')
}
const stateOf = async (pid: number) => (await statOf(pid))[0] || undefined
const parentOf = async (pid: number) => Number((await statOf(pid))[1]) || undefined
