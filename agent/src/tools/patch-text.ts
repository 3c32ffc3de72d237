/*
 * The patch format that some models are trained on: sections for files, hunks found by their context and not by line numbers.
 */

export interface Hunk {
  /** Lines of headings that stand before it, outermost first. */
  headings: string[]
  before: string[]
  after: string[]
  /** The hunk ends where the file ends. */
  atEnd: boolean
}

export type Section =
  | { type: 'add'; path: string; text: string }
  | { type: 'delete'; path: string }
  | { type: 'update'; path: string; moveTo: string | null; hunks: Hunk[] }

const marks = {
  begin: '*** Begin Patch',
  end: '*** End Patch',
  add: '*** Add File: ',
  delete: '*** Delete File: ',
  update: '*** Update File: ',
  move: '*** Move to: ',
  eof: '*** End of File',
}

/** The sections, or a sentence for the model what is wrong. */
export function parsePatchText(text: string): Section[] | string {
  const lines = text.replaceAll('\r\n', '\n').trim().split('\n')
  if (lines[0]?.trim() !== marks.begin) return `A patch begins with the line "${marks.begin}".`
  if (lines.at(-1)?.trim() !== marks.end) return `A patch ends with the line "${marks.end}".`
  const sections: Section[] = []
  const paths = new Set<string>()
  let at = 1
  while (at < lines.length - 1) {
    const read = section(lines, at)
    if (typeof read === 'string') return read
    if (paths.has(read.section.path))
      return `${read.section.path} has two sections; put all changes of a file into one.`
    paths.add(read.section.path)
    sections.push(read.section)
    at = read.next
  }
  return sections.length === 0 ? 'The patch has no section.' : sections
}

type Read = { section: Section; next: number }

function section(lines: readonly string[], at: number): Read | string {
  const line = lines[at] ?? ''
  const path = (mark: string) => line.slice(mark.length).trim()
  if (line.startsWith(marks.delete)) return { section: { type: 'delete', path: path(marks.delete) }, next: at + 1 }
  if (line.startsWith(marks.add)) return added(lines, at + 1, path(marks.add))
  if (line.startsWith(marks.update)) return updated(lines, at + 1, path(marks.update))
  return `Line ${at + 1} of the patch is no section: ${line.slice(0, 100)}`
}

const ends = (line: string): boolean =>
  [marks.add, marks.delete, marks.update, marks.end].some((mark) => line.startsWith(mark.trim()))

function added(lines: readonly string[], from: number, path: string): Read | string {
  let at = from
  const text: string[] = []
  for (; at < lines.length && !ends(lines[at] ?? ''); at += 1) {
    const line = lines[at] ?? ''
    if (!line.startsWith('+')) return `Line ${at + 1} of the patch must begin with + in the new file ${path}.`
    text.push(line.slice(1))
  }
  return { section: { type: 'add', path, text: text.map((line) => `${line}\n`).join('') }, next: at }
}

function updated(lines: readonly string[], from: number, path: string): Read | string {
  let at = from
  let moveTo: string | null = null
  if (lines[at]?.startsWith(marks.move)) moveTo = (lines[at++] ?? '').slice(marks.move.length).trim()
  const hunks: Hunk[] = []
  while (at < lines.length && !ends(lines[at] ?? '')) {
    const read = hunk(lines, at)
    if (typeof read === 'string') return `${read} (${path})`
    hunks.push(read.hunk)
    at = read.next
  }
  if (hunks.length === 0 && moveTo === null) return `The section of ${path} changes nothing.`
  return { section: { type: 'update', path, moveTo, hunks }, next: at }
}

function hunk(lines: readonly string[], from: number): { hunk: Hunk; next: number } | string {
  const one: Hunk = { headings: [], before: [], after: [], atEnd: false }
  let at = from
  for (; (lines[at] ?? '').startsWith('@@'); at += 1) {
    const heading = (lines[at] ?? '').slice(2).trim()
    if (heading !== '') one.headings.push(heading)
  }
  const body = at
  for (; at < lines.length; at += 1) {
    const line = lines[at] ?? ''
    if (ends(line) || line.startsWith('@@')) break
    if (line.trim() === marks.eof) {
      one.atEnd = true
      at += 1
      break
    }
    const [sign, rest] = line === '' ? [' ', ''] : [line[0], line.slice(1)]
    if (sign !== ' ' && sign !== '-' && sign !== '+')
      return `Line ${at + 1} of the patch must begin with a space, - or +`
    if (sign !== '+') one.before.push(rest)
    if (sign !== '-') one.after.push(rest)
  }
  return at === body ? `Line ${at + 1} of the patch should be a change` : { hunk: one, next: at }
}
