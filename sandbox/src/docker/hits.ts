import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

const root = '/sys/fs/cgroup'

/**
 * How often a container hit its limits, from its control groups, as far as this machine shows them.
 * @param pid Its first process, as this machine numbers it.
 */
export async function hitsOf(pid: number): Promise<{ memory: number; processes: number }> {
  const groups = await readFile(`/proc/${pid}/cgroup`, 'utf8').catch(() => '')
  return {
    memory: (await count(groups, 'memory', 'memory.oom_control', 'memory.events', 'oom_kill')) ?? 0,
    processes: (await count(groups, 'pids', 'pids.events', 'pids.events', 'max')) ?? 0,
  }
}

async function count(groups: string, controller: string, first: string, second: string, key: string) {
  const one = new RegExp(`^\\d+:(?:[^:]*,)?${controller}(?:,[^:]*)?:(.*)$`, 'm').exec(groups)?.[1]
  const two = /^0::(.*)$/m.exec(groups)?.[1]
  const file = one === undefined ? join(root, two ?? '', second) : join(root, controller, one, first)
  const text = await readFile(file, 'utf8').catch(() => '')
  const value = new RegExp(`^${key} (\\d+)$`, 'm').exec(text)?.[1]
  return value === undefined ? undefined : Number(value)
}
