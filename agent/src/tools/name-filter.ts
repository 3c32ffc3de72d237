import { RE2JS } from 're2js'

/**
 * Which names of tools a regular expression lets pass; it is matched in linear time. A text that is none lets nothing pass:
 * whoever wrote it meant to leave something out.
 */
export function nameFilter(filter: string | null): (name: string) => boolean {
  if (filter === null) return () => true
  try {
    const pattern = RE2JS.compile(filter)
    return (name) => pattern.matcher(name).find()
  } catch {
    return () => false
  }
}
