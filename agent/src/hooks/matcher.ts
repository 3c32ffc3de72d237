import { RE2JS } from 're2js'

/**
 * Whether a matcher means this tool. Empty or `*`: every tool and every moment without one. `/…/` or anything with the
 * characters of a pattern: a regular expression that fits the whole name. Else: the name itself. A pattern that is none
 * matches nothing. Patterns come from repositories, so they are matched in linear time.
 */
export function matches(matcher: string, tool: string | null): boolean {
  if (matcher === '' || matcher === '*') return true
  if (tool === null) return false
  const slashed = /^\/(.*)\/$/s.exec(matcher)?.[1]
  if (slashed === undefined && !/[\\^$.*+?()[\]{}|]/.test(matcher)) return matcher === tool
  try {
    return RE2JS.compile(slashed ?? matcher).matches(tool)
  } catch {
    return false
  }
}
