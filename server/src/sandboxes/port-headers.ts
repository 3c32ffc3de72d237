import type { IncomingMessage } from 'node:http'
import { passedOn } from '@parley/wire/proxy-headers'
import type { Address, Link } from './port-links.ts'

/*
 * What a browser and a program in a sandbox may say to each other. Nothing that opens a door of Parley goes in. What comes
 * out may set what concerns its own site only; shown below a path of ours, it has no site and may set nothing.
 */

const ours = new Set(['host', 'cookie', 'origin', 'x-access-token', 'x-session-api-key', 'forwarded', 'authorization'])
const forwarded = /^x-forwarded-/
const ownKey = /\bpr[ls]_[0-9A-Za-z]{8}/
const ownCookie = /^(__Host-)?parley-/

/** Headers for the program: as if a browser on its own machine had asked. */
export function inward(request: IncomingMessage, { origin, prefix }: Address, { port }: Link): string[] {
  const { headers } = request
  const without = new Set([...ours, ...Object.keys(headers).filter((name) => forwarded.test(name))])
  const own = `http://localhost:${port}`
  const kept = passedOn(request.rawHeaders, without)
  const put: [string, string | undefined][] = [
    ['Host', `localhost:${port}`],
    // A program that allows its own pages only is to take this one for its own.
    ['Origin', headers.origin === origin ? own : headers.origin],
    ['Cookie', prefix === '' ? cookies(headers.cookie) : undefined],
    ['Authorization', ownKey.test(headers.authorization ?? '') ? undefined : headers.authorization],
    ['X-Forwarded-Host', new URL(origin).host],
    ['X-Forwarded-Proto', new URL(origin).protocol.slice(0, -1)],
    ['X-Forwarded-Prefix', prefix || undefined],
    ['Transfer-Encoding', headers['transfer-encoding'] === undefined ? undefined : 'chunked'],
    ...(headers.upgrade === undefined
      ? []
      : ([
          ['Connection', 'Upgrade'],
          ['Upgrade', headers.upgrade],
        ] as [string, string][])),
  ]
  return [...put.flatMap(([name, value]) => (value === undefined ? [] : [name, value])), ...kept]
}

function cookies(text: string | undefined): string | undefined {
  const kept = (text ?? '').split(/;\s*/).filter((pair) => pair !== '' && !ownCookie.test(pair))
  return kept.length === 0 ? undefined : kept.join('; ')
}

/** What would last beyond the answer: for the name, for the browser, or for those who look at the name's pages. */
const lasting = ['strict-transport-security', 'alt-svc', 'clear-site-data', 'nel', 'report-to', 'reporting-endpoints']
const namedOnly = [
  'set-cookie',
  'service-worker-allowed',
  'access-control-allow-origin',
  'access-control-allow-credentials',
]

const site = 'sandbox allow-scripts allow-forms allow-popups allow-modals allow-downloads allow-pointer-lock'

/** Headers for the browser. `pages` is the origin of our own page, which alone may show this one in a frame. */
export function outward(raw: readonly string[], { origin, prefix }: Address, { port }: Link, pages: string): string[] {
  const without = new Set([...lasting, 'referrer-policy', ...(prefix === '' ? [] : namedOnly)])
  const kept = passedOn(raw, without)
  for (let at = 0; at < kept.length; at += 2) {
    const name = kept[at]?.toLowerCase()
    if (name === 'set-cookie') kept[at + 1] = (kept[at + 1] ?? '').replace(/;\s*domain=[^;]*/gi, '')
    if (name === 'location') kept[at + 1] = home(kept[at + 1] ?? '', origin, prefix, port)
  }
  const policy = `frame-ancestors ${pages}${prefix === '' ? '' : `; ${site}`}`
  // The address is a key: it must not travel to other sites.
  const put = ['Content-Security-Policy', policy, 'Referrer-Policy', 'same-origin', 'X-Robots-Tag', 'noindex']
  // Its scripts ask for its own files without the name of a site.
  return [...kept, ...put, ...(prefix === '' ? [] : ['Access-Control-Allow-Origin', '*'])]
}

/** A redirect to what the program takes for its own address, as the browser has to ask. */
function home(location: string, origin: string, prefix: string, port: number): string {
  const path = location.replace(new RegExp(`^https?://(localhost|127\\.0\\.0\\.1):${port}(?=[/?#]|$)`, 'i'), '')
  const isOwn = path !== location || (path.startsWith('/') && !path.startsWith('//'))
  if (!isOwn) return location
  return `${origin}${prefix}${path.startsWith('/') ? '' : '/'}${path}`
}
