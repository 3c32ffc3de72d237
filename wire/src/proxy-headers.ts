import type { ServerResponse } from 'node:http'

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

/**
 * Begins an answer with the status and headers that a server gave. Its own words beside the status are left out. False, and
 * nothing is sent, when they may not be passed on: whoever answered decides them, and Node throws at what is no HTTP.
 */
export function beginAnswer(response: ServerResponse, status = 0, headers: string[]): boolean {
  try {
    // Below 200 the answer is still to come, and none would.
    if (status < 200) return false
    response.writeHead(status, headers)
    return true
  } catch {
    response.statusMessage = ''
    return false
  }
}
