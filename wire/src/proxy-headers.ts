/** Headers that belong to one connection only. */
const hopByHop = new Set(['connection', 'keep-alive', 'te', 'trailer', 'transfer-encoding', 'upgrade'])

const none: ReadonlySet<string> = new Set()

/**
 * Headers as a proxy may pass them on: less those of one connection, what clients say to proxies, and `without`.
 * @param raw Names and values in turn, as `rawHeaders` has them.
 * @param without Lower case.
 */
export function passedOn(raw: readonly string[], without: ReadonlySet<string> = none): string[] {
  const named = new Set<string>()
  for (let at = 0; at < raw.length; at += 2) {
    if (raw[at]?.toLowerCase() !== 'connection') continue
    for (const name of (raw[at + 1] ?? '').split(',')) named.add(name.trim().toLowerCase())
  }
  const kept: string[] = []
  for (let at = 0; at < raw.length; at += 2) {
    const name = (raw[at] ?? '').toLowerCase()
    if (hopByHop.has(name) || name.startsWith('proxy-') || named.has(name) || without.has(name)) continue
    kept.push(raw[at] ?? '', raw[at + 1] ?? '')
  }
  return kept
}
