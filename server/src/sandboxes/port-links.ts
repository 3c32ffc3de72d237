import { createHmac, createSecretKey, hkdfSync, timingSafeEqual } from 'node:crypto'
import type { ExposedUrl } from '@parley/contract/sandboxes'
import type { Clock } from '@parley/store/clock'
import type { Limits } from '../limits.ts'

/*
 * Addresses of ports in sandboxes. Who has one may use it: it holds the sandbox, the port, a time and our signature, and works
 * while the sandbox runs. Whatever a sandbox serves is somebody else's page. So each address is a site of its own, a name
 * below `appsUrl`, where a page can see nothing of Parley's and nothing of another sandbox. Where the operator has given no
 * such names, the address is a path of ours, and browsers are told to treat what it shows as a site without a name.
 */

/** Ports that a program in a sandbox is told to use (variables of these names). */
export const workerPorts: Readonly<Record<string, number>> = { WORKER_1: 8011, WORKER_2: 8012 }

export interface Link {
  sandbox: string
  port: number
}

/** An address of the kind. `link` null: it was never one of ours, or its time is over. */
export interface Address {
  link: Link | null
  /** As the browser sees it, without a slash at the end. */
  origin: string
  /** Path of ours before the program's own; empty for a site of its own. */
  prefix: string
  /** With its query. */
  path: string
}

interface Parts {
  secret: Buffer
  baseUrl: string
  /** `https://*.apps.example.org`; null: none was given. */
  appsUrl: string | null
  /** An address is good for at least `ports.address`, and for at most twice that. */
  limits: Pick<Limits, 'ports'>
  clock: Pick<Clock, 'millis'>
}

export type PortLinks = ReturnType<typeof portLinks>

const macBytes = 9
const minute = 60_000

export function portLinks({ secret, baseUrl, appsUrl, limits, clock }: Parts) {
  const key = createSecretKey(Buffer.from(hkdfSync('sha256', secret, '', 'parley port links', 32)))
  const mac = (body: Buffer): Buffer => createHmac('sha256', key).update(body).digest().subarray(0, macBytes)
  const names = appsUrl ?? localNames(baseUrl)
  const suffix = names === null ? null : new URL(names.replace('*.', '')).hostname
  const life = Math.max(1, Math.round(limits.ports.address / minute))

  /** 62 letters, so that it fits a label of a name. The same for a while, so that a page keeps its site. */
  function write({ sandbox, port }: Link): string {
    const body = Buffer.alloc(22)
    body.write(sandbox.replaceAll('-', ''), 0, 'hex')
    body.writeUInt16BE(port, 16)
    body.writeUInt32BE((Math.floor(clock.millis() / minute / life) + 2) * life, 18)
    return Buffer.concat([body, mac(body)]).toString('hex')
  }

  function open(text: string): Link | null {
    if (!/^[0-9a-f]{62}$/.test(text)) return null
    const bytes = Buffer.from(text, 'hex')
    const body = bytes.subarray(0, 22)
    const isGood = timingSafeEqual(bytes.subarray(22), mac(body)) && body.readUInt32BE(18) > clock.millis() / minute
    if (!isGood) return null
    const id = body.toString('hex', 0, 16).replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
    return { sandbox: id, port: body.readUInt16BE(16) }
  }

  const urlOf = (link: Link): string =>
    names === null ? `${baseUrl}/apps/${write(link)}/` : `${names.replace('*', write(link))}/`

  return {
    urlOf,

    /** Of a sandbox that runs. */
    exposed: (sandbox: string): ExposedUrl[] =>
      Object.entries(workerPorts).map(([name, port]) => ({ name, url: urlOf({ sandbox, port }), port })),

    /** Undefined when this is no such address. */
    read(host: string | undefined, url: string): Address | undefined {
      const [, label] = /^([^.:]+)\./.exec(host ?? '') ?? []
      const isNamed = suffix !== null && label !== undefined && bareHost(host) === `${label}.${suffix}`
      if (isNamed) {
        const origin = names?.replace('*', label) ?? ''
        return { link: open(label), origin, prefix: '', path: url }
      }
      const [, token, path = ''] = /^\/apps\/([^/?#]*)(.*)$/s.exec(url) ?? []
      if (token === undefined || names !== null) return undefined
      return {
        link: open(token),
        origin: baseUrl,
        prefix: `/apps/${token}`,
        path: path.startsWith('/') ? path : `/${path}`,
      }
    },

    /** What our own page may show in a frame, as a policy of content says it. */
    frames: names ?? "'self'",
  }
}

const bareHost = (host = ''): string => host.replace(/:\d+$/, '').toLowerCase()

/** On one's own machine browsers know where `anything.localhost` is, and take each such name for a site of its own. */
function localNames(baseUrl: string): string | null {
  const { protocol, hostname, port } = new URL(baseUrl)
  const isLocal = protocol === 'http:' && ['localhost', '127.0.0.1', '[::1]'].includes(hostname)
  return isLocal ? `http://*.localhost${port === '' ? '' : `:${port}`}` : null
}
