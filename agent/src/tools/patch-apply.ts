import type { Hunk } from './patch-text.ts'

/** What a file becomes. `fuzz` 0: everything was there exactly; more: white space differed, or a hunk was not at the end. */
export interface Patched {
  text: string
  fuzz: number
}

/** The text with all hunks applied in order, or a sentence which one does not fit. */
export function patched(text: string, hunks: readonly Hunk[]): Patched | string {
  const lines = text.split('\n')
  if (lines.at(-1) === '') lines.pop()
  const result: string[] = []
  let from = 0
  let fuzz = 0
  for (const hunk of hunks) {
    const start = afterHeadings(lines, hunk.headings, from)
    if (typeof start === 'string') return start
    const found = place(lines, hunk, start)
    if (found === null)
      return `These lines are not in the file${start > 0 ? ` after line ${start}` : ''}:\n${hunk.before.join('\n')}`
    result.push(...lines.slice(from, found.at), ...hunk.after)
    from = found.at + hunk.before.length
    fuzz += found.fuzz
  }
  result.push(...lines.slice(from))
  return { text: result.map((line) => `${line}\n`).join(''), fuzz }
}

function afterHeadings(lines: readonly string[], headings: readonly string[], from: number): number | string {
  let at = from
  for (const heading of headings) {
    const found = lines.findIndex((line, index) => index >= at && line.trim() === heading)
    const near = found >= 0 ? found : lines.findIndex((line, index) => index >= at && line.includes(heading))
    if (near < 0) return `There is no line "${heading}" in the file${at > 0 ? ` after line ${at}` : ''}.`
    at = near + 1
  }
  return at
}

const looks = [
  { fuzz: 0, same: (line: string) => line },
  { fuzz: 1, same: (line: string) => line.trimEnd() },
  { fuzz: 100, same: (line: string) => line.trim() },
]
const notAtEnd = 10_000

function place(lines: readonly string[], { before, atEnd }: Hunk, from: number): { at: number; fuzz: number } | null {
  // Nothing stands before what is only added: it goes to the end, or to where the headings lead.
  if (before.length === 0) return { at: atEnd || from === 0 ? lines.length : from, fuzz: 0 }
  for (const { fuzz, same } of looks) {
    const wanted = before.map(same)
    const fits = (at: number) =>
      wanted.every((line, i) => lines[at + i] !== undefined && same(lines[at + i] ?? '') === line)
    const last = lines.length - before.length
    if (atEnd && last >= from && fits(last)) return { at: last, fuzz }
    for (let at = from; at <= last; at += 1) if (fits(at)) return { at, fuzz: fuzz + (atEnd ? notAtEnd : 0) }
  }
  return null
}
