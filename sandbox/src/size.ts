import type { Process } from './driver.ts'

type Resize = Process['resize']

/** One size at a time, and of those that wait the newest: a size that takes long does not undo the one asked for after it. */
export function inOrder(apply: (columns: number, rows: number) => Promise<unknown>): Resize {
  let wanted: Parameters<Resize> | undefined
  let busy = false
  const work = async () => {
    busy = true
    while (wanted !== undefined) {
      const [columns, rows] = wanted
      wanted = undefined
      await apply(columns, rows).catch(() => undefined) // the program has ended, or has no terminal
    }
    busy = false
  }
  return (columns, rows) => {
    wanted = [Math.trunc(columns), Math.trunc(rows)]
    if (!busy) void work()
  }
}
