/** Lines (from 1) at which `part` begins in `text`. */
export function occurrences(text: string, part: string): number[] {
  const lines: number[] = []
  let line = 1
  let counted = 0
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + part.length)) {
    for (; counted < at; counted += 1) if (text.charCodeAt(counted) === 10) line += 1
    lines.push(line)
  }
  return lines
}

/** Why a text was not found, with what is there instead when something like it is. */
export function missText(text: string, part: string): string {
  const lines = text.split('\n')
  const wanted = withoutEmptyEnds(part.split('\n'))
  const loose = wanted.map(squeezed)
  const at = lines.findIndex((_, from) => loose.every((line, i) => squeezed(lines[from + i] ?? '') === line))
  if (at >= 0 && loose.some((line) => line !== '')) {
    const there = lines
      .slice(at, at + wanted.length)
      .join('\n')
      .slice(0, 2_000)
    return `old_str is not in the file exactly. Lines ${at + 1} to ${at + wanted.length} differ only in white space or quotes:\n${there}`
  }
  const first = loose.find((line) => line.length > 3)
  const near = lines.flatMap((line, i) => (first !== undefined && squeezed(line) === first ? [i + 1] : [])).slice(0, 5)
  if (near.length === 0) return 'old_str is not in the file. View it and copy the text exactly.'
  return `old_str is not in the file. Its first line is at line ${near.join(', ')}, but what follows differs; view that place.`
}

function withoutEmptyEnds(lines: readonly string[]): readonly string[] {
  const isFull = (line: string) => line !== ''
  return lines.slice(Math.max(0, lines.findIndex(isFull)), lines.findLastIndex(isFull) + 1)
}

const squeezed = (line: string): string =>
  line
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/[‘’“”"`]/g, "'")
    .trim()
