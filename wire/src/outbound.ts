import dns from 'node:dns'
import { once } from 'node:events'
import net from 'node:net'
import { Agent, buildConnector, Headers, type RequestInit, type Response } from 'undici'
import { whyRefused } from './addresses.ts'
import { exchange } from './exchange.ts'
import { OutboundRefused } from './refused.ts'

/*
 * The one way out. Addresses that users may write lead anywhere, so every dial classifies what a name resolved to and dials
 * exactly those addresses: between the check and the connection there is no second look-up that could answer otherwise.
 */

export type Lookup = (host: string, options: dns.LookupAllOptions, done: LookupDone) => void
type LookupDone = (error: NodeJS.ErrnoException | null, addresses: dns.LookupAddress[]) => void

export interface OutboundOptions {
  /** `host:port` as the operator wrote them: exactly these may be private. */
  privateHosts?: readonly string[]
  /** Name resolution; the system's by default. */
  lookup?: Lookup
  /** Whole request including redirects, until its headers are here. 30 s unless said. */
  timeoutMs?: number
  connectTimeoutMs?: number
  /** Between two pieces of an answer. */
  idleTimeoutMs?: number
  /** Largest answer in bytes; 50 MiB unless said. A longer one fails while it is read. */
  bodyCap?: number
  /** How many redirects are followed, each checked as the first address was. None unless said. */
  redirects?: number
}

export interface Outbound {
  /** As `fetch`. Rejects with `OutboundRefused`, the signal's reason, or the connection's error. */
  fetch(url: string | URL, init?: RequestInit & { redirects?: number; timeoutMs?: number }): Promise<Response>
  /** A TCP connection to a host that may be dialled. Rejects with `OutboundRefused` or the connection's error. */
  dial(host: string, port: number, signal: AbortSignal): Promise<net.Socket>
  /** Throws `OutboundRefused` when the text can be seen to lead nowhere good without resolving it. */
  check(url: string | URL): URL
  close(): Promise<void>
}

const bare = (host: string) =>
  host
    .replace(/^\[|\]$/g, '')
    .replace(/\.$/, '')
    .toLowerCase()

export function outbound(options: OutboundOptions = {}): Outbound {
  const exempt = new Set((options.privateHosts ?? []).map(canonicalHostPort))
  const resolve: Lookup = options.lookup ?? ((host, how, done) => dns.lookup(host, how, done))
  const lookupFor = (port: number) => guardedLookup(resolve, exempt, port)
  /** Refuses an address that stands there as such: no look-up is asked about it. */
  const checkLiteral = (host: string, port: number) => {
    const name = bare(host)
    const why = exempt.has(`${name}:${port}`) ? undefined : whyLiteralRefused(name)
    if (why) throw refusal(name, why)
  }
  const agent = guardedAgent(options, checkLiteral, lookupFor)

  function check(address: string | URL): URL {
    const url = webAddress(address)
    checkLiteral(url.hostname, portOf(url))
    return url
  }

  async function hop(url: URL, init: RequestInit, left: number): Promise<Response> {
    const response = await exchange(agent, url, init, options.bodyCap ?? 50 * 1024 * 1024).catch(unwrap)
    const location = response.headers.get('location')
    if (response.status < 300 || response.status > 399 || response.status === 304 || location === null) return response
    await response.body?.cancel()
    if (left === 0) throw new OutboundRefused('redirect', `${url.host} answered with a redirect`)
    const next = check(new URL(location, url))
    return hop(next, redirected(init, url, next, response.status), left - 1)
  }

  return {
    check,
    async fetch(url, { redirects = options.redirects ?? 0, timeoutMs = options.timeoutMs ?? 30_000, ...init } = {}) {
      const late = new AbortController()
      const timer = setTimeout(
        () => late.abort(new DOMException(`no answer within ${timeoutMs} ms`, 'TimeoutError')),
        timeoutMs,
      )
      const signal = init.signal ? AbortSignal.any([init.signal, late.signal]) : late.signal
      try {
        return await hop(check(url), { ...init, signal }, redirects)
      } finally {
        clearTimeout(timer)
      }
    },
    async dial(host, port, signal) {
      signal.throwIfAborted()
      checkLiteral(host, port)
      const socket = net.connect({
        host: bare(host),
        port,
        lookup: lookupFor(port),
        autoSelectFamily: true,
        noDelay: true,
      })
      return connected(socket, options.connectTimeoutMs ?? 10_000, signal)
    },
    close: () => agent.destroy(),
  }
}

/** The socket once it is connected; it is destroyed when that takes longer than `ms` or the signal is aborted. */
async function connected(socket: net.Socket, ms: number, signal: AbortSignal): Promise<net.Socket> {
  const late = AbortSignal.timeout(ms)
  try {
    await once(socket, 'connect', { signal: AbortSignal.any([signal, late]) })
    return socket
  } catch (error) {
    socket.on('error', () => undefined)
    socket.destroy()
    if (signal.aborted) throw signal.reason
    if (late.aborted) throw new Error('the connection took too long', { cause: error })
    throw error
  }
}

const refusal = (host: string, why: string) => new OutboundRefused('address', `${host} must not be dialled: ${why}`)

/** `host:port`, in the form a URL's host has. */
function canonicalHostPort(text: string): string {
  const url = new URL(`http://${text.trim()}`)
  const port = /:(\d+)$/.exec(text.trim())?.[1]
  if (port === undefined) throw new TypeError(`a private host is written host:port, not ${text}`)
  return `${bare(url.hostname)}:${Number(port)}`
}

/** `localhost` and the names below it lead back to where they are asked (RFC 6761), whatever a look-up says. */
const whyLiteralRefused = (name: string) =>
  net.isIP(name) !== 0 ? whyRefused(name) : /(^|\.)localhost$/.test(name) ? 'it is loopback' : undefined

const portOf = ({ protocol, port }: { protocol: string; port: string }) =>
  Number(port || (protocol === 'https:' ? 443 : 80))

/** Refuses what is no plain http(s) address: other schemes, names and passwords in it. */
function webAddress(address: string | URL): URL {
  const url = URL.parse(String(address))
  if (!url) throw new OutboundRefused('url', 'the address is not a URL')
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw new OutboundRefused('url', 'only http and https are allowed')
  if (url.username !== '' || url.password !== '')
    throw new OutboundRefused('url', 'the address must not have a user name')
  return url
}

/** Resolves a name and lets nothing through unless every address is good: one bad among many is an attempt. */
function guardedLookup(resolve: Lookup, exempt: Set<string>, port: number): net.LookupFunction {
  return (host, options, done) => {
    resolve(host, { all: true, verbatim: true }, (error, addresses) => {
      if (error) return done(error, '')
      const isExempt = exempt.has(`${bare(host)}:${port}`)
      for (const { address } of isExempt ? [] : addresses) {
        const why = whyRefused(address)
        if (why) return done(refusal(host, why), '')
      }
      const [first] = addresses
      if (!first) return done(Object.assign(new Error(`${host} has no address`), { code: 'ENOTFOUND' }), '')
      if (options.all) return done(null, addresses)
      done(null, first.address, first.family)
    })
  }
}

function guardedAgent(
  options: OutboundOptions,
  checkLiteral: (host: string, port: number) => void,
  lookupFor: (port: number) => net.LookupFunction,
): Agent {
  const timeout = options.connectTimeoutMs ?? 10_000
  const connectors = new Map<number, buildConnector.connector>()
  return new Agent({
    // A kept connection was checked when it was dialled; it leads where it led.
    connect(target, done) {
      const port = portOf(target)
      try {
        checkLiteral(target.hostname, port)
      } catch (error) {
        return done(error as OutboundRefused, null)
      }
      const connect = connectors.get(port) ?? buildConnector({ timeout, lookup: lookupFor(port) })
      if (connectors.size < 1000) connectors.set(port, connect)
      connect(target, done)
    },
    headersTimeout: options.timeoutMs ?? 30_000,
    bodyTimeout: options.idleTimeoutMs ?? 60_000,
  })
}

/** `fetch` hides what went wrong behind a TypeError; a refusal must be seen. */
function unwrap(error: unknown): never {
  let cause = error
  for (let depth = 0; depth < 5 && cause instanceof Error; depth++) {
    if (cause instanceof OutboundRefused) throw cause
    cause = cause instanceof AggregateError ? cause.errors[0] : cause.cause
  }
  throw error
}

/** What goes along to another origin. Any other header could be a credential. */
const harmless = new Set(['accept', 'accept-language', 'content-type', 'user-agent'])

/** What goes along to the next address: no credentials to another origin, no body after a 303 (or a POST's 301, 302). */
function redirected(init: RequestInit, from: URL, to: URL, status: number): RequestInit {
  const isGetNow = status === 303 || (status < 303 && init.method?.toUpperCase() === 'POST')
  const headers = [...new Headers(init.headers)].filter(
    ([name]) => (from.origin === to.origin || harmless.has(name)) && !(isGetNow && name.startsWith('content-')),
  )
  return isGetNow ? { ...init, method: 'GET', body: null, headers } : { ...init, headers }
}
