import type { IncomingMessage } from 'node:http'
import { passedOn } from '@parley/wire/proxy-headers'

/** What the client sent less what is the connection's or the proxy's, with the gate's headers in their place. */
export function headersFor(request: IncomingMessage, url: URL, put: Record<string, string> = {}): string[] {
  const replaced = new Set(Object.keys(put).map((name) => name.toLowerCase()))
  const kept = passedOn(request.rawHeaders, new Set([...replaced, 'host']))
  const body = request.headers['transfer-encoding'] === undefined ? [] : ['Transfer-Encoding', 'chunked']
  // The host is the one that the gate saw, whatever the client's Host header says.
  return ['Host', url.host, ...kept, ...body, ...Object.entries(put).flat(), 'Connection', 'close']
}

/** A whole URL of the web; undefined for anything else. */
export function absolute(text: string | undefined): URL | undefined {
  const url = URL.canParse(text ?? '') ? new URL(text ?? '') : undefined
  return url !== undefined && /^https?:$/.test(url.protocol) && url.hostname !== '' ? url : undefined
}

/** Without the brackets of IPv6 and the dot of a full name, which would make one host two. */
export const bare = (host: string) => host.replace(/^\[|\]$/g, '').replace(/\.$/, '')
