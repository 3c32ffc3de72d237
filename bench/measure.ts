/** One line of the table: what was measured, beside the machine's own limit in the same run. */
export interface Row {
  what: string
  unit: string
  p50: number
  p95: number | null
  floor: number | null
  floorIs: string
  goal: string
}

export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.floor(share * (sorted.length - 1))] ?? Number.NaN
}

export const p50 = (values: readonly number[]): number => quantile(values, 0.5)
export const p95 = (values: readonly number[]): number => quantile(values, 0.95)

/** Milliseconds of each of `times` runs, one after the other; the first `warmUp` are not counted. */
export async function timed(times: number, work: (index: number) => Promise<unknown>, warmUp = 3): Promise<number[]> {
  const taken: number[] = []
  for (let index = -warmUp; index < times; index += 1) {
    const began = performance.now()
    await work(index + warmUp)
    if (index >= 0) taken.push(performance.now() - began)
  }
  return taken
}

const shown = (value: number | null): string =>
  value === null ? '–' : value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2)

export function table(rows: readonly Row[]): string {
  const head = ['what', 'unit', 'p50', 'p95', 'floor', 'ratio', 'goal', 'floor is']
  const lines = rows.map((row) => [
    row.what,
    row.unit,
    shown(row.p50),
    shown(row.p95),
    shown(row.floor),
    row.floor === null ? '–' : `${shown(row.p50 / row.floor)}×`,
    row.goal,
    row.floorIs,
  ])
  const widths = head.map((title, column) =>
    Math.max(title.length, ...lines.map((line) => (line[column] ?? '').length)),
  )
  const format = (line: readonly string[]) =>
    `| ${line.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`
  return [format(head), `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`, ...lines.map(format)].join('\n')
}
