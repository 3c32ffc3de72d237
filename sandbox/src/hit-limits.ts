import type { DiskWatch } from './disk.ts'
import type { Limits } from './driver.ts'

/** How often a limit was hit. */
interface Hits {
  memory: number
  processes: number
}

/** The limits that were hit, for people; undefined when none was. */
export function hitLimits({ memory, processes }: Hits, disk: DiskWatch, limits: Limits): string | undefined {
  const said = []
  if (memory > 0)
    said.push(`out of memory: ${memory} killed at the limit of ${Math.round(limits.memory / 2 ** 20)} MiB`)
  if (processes > 0) said.push(`limit of ${limits.processes} processes reached`)
  const full = disk.full()
  if (full !== undefined) said.push(full)
  return said.length === 0 ? undefined : said.join('; ')
}
