/*
 * What whoever started the server left open in it (a log, a lock, a pipe) would be open in every program inside too: Node
 * marks only its own descriptors as not to be passed on. Nobody but the child can close them there, and no program on the
 * way in does; but another file can take their numbers.
 */
import { open, readFile, readdir } from 'node:fs/promises'

/** One place of a child's `stdio`. */
export type Place = 'pipe' | 'ignore' | 'inherit' | 'ipc' | number

export interface Seal {
  /** These places, and /dev/null at the number of each descriptor that would be passed on. */
  stdio(places: readonly Place[]): Place[]
  close(): Promise<void>
}

const closedOnExec = 0o2000000

export async function sealDescriptors(): Promise<Seal> {
  const inherited = (await openDescriptors()).filter((fd) => fd > 2)
  const nothing = await open('/dev/null', 'r+')
  return {
    stdio(places) {
      const sealed = [...places]
      for (const fd of inherited) {
        if (fd < places.length) continue
        while (sealed.length < fd) sealed.push('ignore')
        sealed[fd] = nothing.fd
      }
      return sealed
    },
    close: () => nothing.close(),
  }
}

/** Those that a child would inherit. */
async function openDescriptors(): Promise<number[]> {
  const fds = (await readdir('/proc/self/fd')).map(Number)
  const flags = await Promise.all(fds.map((fd) => readFile(`/proc/self/fdinfo/${fd}`, 'utf8').catch(() => undefined)))
  return fds.filter((_, index) => {
    const octal = /^flags:\s*(\d+)/m.exec(flags[index] ?? '')?.[1]
    return octal !== undefined && (parseInt(octal, 8) & closedOnExec) === 0
  })
}
