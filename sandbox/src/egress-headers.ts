import type { IncomingMessage } from 'node:http'

/** Headers that belong to one connection only, and what clients say to proxies. */
const hopByHop = new Set(['connection', 'keep-alive', 'te', 'trailer', 'transfer-encoding', 'upgrade'])

/** What the client sent less what is the connection's or the proxy's, with the gate's headers in their place. */
export function headersFor(request: IncomingMessage, url: URL, put: Record<string, string> = {}): string[] {
  const replaced = new Set(Object.keys(put).map((name) => name.toLowerCase()))
  const kept = passed(request.rawHeaders, new Set([...replaced, 'host']))
  const body = request.headers['transfer-encoding'] === undefined ? [] : ['Transfer-Encoding', 'chunked']
  // The host is the one that the gate saw, whatever the client's Host header says.
  return ['Host', url.host, ...kept, ...body, ...Object.entries(put).flat(), 'Connection', 'close']
}

/** Headers as they may be passed on: less those of one connection, those for proxies, and `without`. */
export function passed(raw: readonly string[], without: ReadonlySet<string>): string[] {
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

/** A whole URL of the web; undefined for anything else. */
export function absolute(text: string | undefined): URL | undefined {
  const url = URL.canParse(text ?? '') ? new URL(text ?? '') : undefined
  return url !== undefined && /^https?:$/.test(url.protocol) && url.hostname !== '' ? url : undefined
}

/** Without the brackets of IPv6 and the dot of a full name, which would make one host two. */
export const bare = (host: string) => host.replace(/^\[|\]$/g, '').replace(/\.$/, '')
