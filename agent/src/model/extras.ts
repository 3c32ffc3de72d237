/** What the messages, tools and the stream rest on cannot be replaced. */
const reserved = new Set(['messages', 'input', 'model', 'stream', 'stream_options', 'tools', 'tool_choice', 'system'])

/**
 * The body with the user's own fields in it.
 * @param list the array that is left as it is, byte by byte
 */
export function withExtras(body: string, extras: Record<string, unknown>, list: string | null): string {
  if (list === null) return body
  const added = Object.entries(extras).filter(([key]) => !reserved.has(key) && key !== list)
  if (added.length === 0) return body
  return JSON.stringify({ ...(JSON.parse(body) as Record<string, unknown>), ...Object.fromEntries(added) })
}
