import type { Tags } from '@parley/contract/tags'

/* Labels as a person writes them: `team: parsers`, one on a line. */

export const linesOfTags = (tags: Tags): string =>
  Object.entries(tags)
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n')

/** Null when a line is no label. */
export function tagsOfLines(text: string): Tags | null {
  const lines = text.split('\n').filter((line) => line.trim() !== '')
  const found = lines.map((line) => /^\s*([a-z0-9]{1,64})\s*:\s*(.{0,256}?)\s*$/.exec(line))
  if (found.includes(null)) return null
  return Object.fromEntries(found.map((parts) => [parts?.[1] ?? '', parts?.[2] ?? '']))
}
