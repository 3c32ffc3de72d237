import { execFile } from 'node:child_process'
import { readFile, readlink } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import type { Process } from '../driver.ts'
import { inOrder } from '../size.ts'
import type { Group } from './cgroup.ts'
import type { Child } from './fork-server.ts'

const run = promisify(execFile)

type Ended = Awaited<Process['ended']>

/** A process that can be ended for a reason, which `ended` tells. */
export interface Endable extends Process {
  endFor(reason: string): Promise<void>
}

/**
 * A child as the driver's process. When it ends, what it left behind is ended too: nothing outlives the handle that
 * names it.
 * @param group All that the child starts.
 */
export function asProcess(child: Child, group: Group, signal?: AbortSignal): Endable {
  const { promise: ended, resolve } = Promise.withResolvers<Ended>()
  let over = false
  let why: { reason?: string } = {}
  const finish = async (how: Ended) => {
    if (over) return
    over = true
    signal?.removeEventListener('abort', abort)
    await group.kill().catch(() => undefined)
    resolve({ ...how, ...why })
    await group.remove().catch(() => undefined)
  }
  const kill = async (graceMs = 2_000) => {
    await child.started
    if (over) return void (await ended)
    if (graceMs > 0) {
      await signalMembers(group, 'SIGTERM', (pid) => pid !== child.pid) // which ends by itself when the program does
      await Promise.race([ended, sleep(graceMs, undefined, { ref: false })])
    }
    // What is inside first: the child outside takes note of its end. Else the system's process 1 has to, in its own time,
    // and until then the sandbox cannot end.
    const inside = await signalMembers(group, 'SIGKILL', (pid) => pid !== child.pid)
    if (inside > 0) await Promise.race([child.ended, sleep(100, undefined, { ref: false })])
    if (!over) await group.kill().catch(() => undefined)
    await ended
  }
  const abort = () => void kill()
  void child.ended.then(({ code, signal }) => finish({ code, signal }))
  if (signal?.aborted) abort()
  else signal?.addEventListener('abort', abort, { once: true })
  return {
    stdin: child.stdin,
    stdout: child.stdout,
    stderr: child.stderr,
    ended,
    kill,
    endFor(reason) {
      if (!over) why = { reason }
      return kill(0)
    },
    async interruptChildren(name) {
      const main = child.pid === undefined ? undefined : await mainProcess(child.pid)
      if (main !== undefined) await signalMembers(group, name, (pid) => pid !== child.pid && pid !== main)
    },
    resize: inOrder((columns, rows) => resized(group, columns, rows)),
  }
}

/** Resolves with how many there were. */
async function signalMembers(group: Group, name: NodeJS.Signals, which: (pid: number) => boolean): Promise<number> {
  const members = (await group.members()).filter((pid) => pid > 0 && which(pid))
  for (const pid of members) {
    try {
      process.kill(pid, name)
    } catch {
      // It has ended since the list was read.
    }
  }
  return members.length
}

/** The terminal is known by what a member of the group reads from; its own end of it takes the size. */
async function resized(group: Group, columns: number, rows: number): Promise<void> {
  for (const pid of await group.members()) {
    const place = `/proc/${pid}/fd/0`
    if (!(await readlink(place).catch(() => '')).startsWith('/dev/pts/')) continue
    return void (await run('stty', ['-F', place, 'cols', `${columns}`, 'rows', `${rows}`]))
  }
}

/** The process inside that the child outside waits for. */
async function mainProcess(pid: number): Promise<number | undefined> {
  const text = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '')
  return text.trim() === '' ? undefined : Number(text.trim().split(' ')[0])
}
