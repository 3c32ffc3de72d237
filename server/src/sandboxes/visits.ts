import type { IncomingMessage } from 'node:http'
import { Problem } from '@parley/contract/problems'
import type { Wake } from '@parley/store/wake'
import type { Divert } from '@parley/wire/divert'
import { forwarder, type Onward, refuse } from '@parley/wire/forward'
import { inward, outward } from './port-headers.ts'
import type { Address, Link, PortLinks } from './port-links.ts'
import { sandboxTopic, type Sandboxes } from './service.ts'
import type { SandboxStore } from './store.ts'

/*
 * Visitors of what sandboxes serve: from an address with our signature to a byte stream into the sandbox. A visit counts as
 * use, so a sandbox that somebody looks at is not paused for idleness; and it ends when the sandbox does.
 */

interface Parts {
  store: Pick<SandboxStore, 'get' | 'visit'>
  sandboxes: Pick<Sandboxes, 'hands'>
  links: PortLinks
  wake: Pick<Wake, 'on'>
  baseUrl: string
  log: (message: string, details?: Record<string, unknown>) => void
}

const connectMs = 30_000
const beatMs = 30_000
/** Requests and open connections of one sandbox at a time. */
const mostVisits = 256

const notHere = { status: 404, text: 'This address is not, or no longer, one of a sandbox.' }
const tooMany = { status: 503, text: 'Too many requests to this sandbox are under way.' }

export function visits({ store, sandboxes, links, wake, baseUrl, log }: Parts): Divert & { close(): void } {
  const under = new Map<string, number>()
  const open = new Set<() => void>()
  const forward = forwarder(async ({ key, port }) => {
    const row = await store.get(key)
    const hands = await sandboxes.hands(row?.owner_id ?? '', key, AbortSignal.timeout(connectMs))
    return hands.connect(port)
  })

  /** Counts a visit until it is over; false: there are too many. */
  function begin(link: Link, over: (done: () => void) => void): boolean {
    const now = under.get(link.sandbox) ?? 0
    if (now >= mostVisits) return false
    under.set(link.sandbox, now + 1)
    const beat = () =>
      void store.visit(link.sandbox).catch((error: unknown) => log('A visit could not be noted.', { ...link, error }))
    beat()
    const timer = setInterval(beat, beatMs)
    over(() => {
      clearInterval(timer)
      const left = (under.get(link.sandbox) ?? 1) - 1
      if (left === 0) under.delete(link.sandbox)
      else under.set(link.sandbox, left)
    })
    return true
  }

  const onward = (request: IncomingMessage, address: Address, link: Link): Onward => ({
    target: { key: link.sandbox, port: link.port },
    path: address.path,
    headers: inward(request, address, link),
    answer: (raw) => outward(raw, address, link, baseUrl),
    failed: (error) => failure(error, link),
  })
  const addressOf = (request: IncomingMessage) => links.read(request.headers.host, request.url ?? '/')

  return {
    takes: (request) => addressOf(request) !== undefined,

    request(request, response) {
      const address = addressOf(request)
      const link = address?.link
      if (address === undefined || link === undefined || link === null) return refuse(response, notHere)
      if (!begin(link, (done) => response.on('close', done))) return refuse(response, tooMany)
      forward.request(request, response, onward(request, address, link))
    },

    upgrade(request, socket, head) {
      const address = addressOf(request)
      const link = address?.link
      const end = () => void socket.destroy()
      if (!address || !link) return end()
      const isTaken = begin(link, (done) => {
        const off = wake.on(sandboxTopic(link.sandbox), end)
        open.add(end)
        socket.on('close', () => {
          done()
          off()
          open.delete(end)
        })
      })
      if (!isTaken) return end()
      forward.upgrade(request, socket, head, onward(request, address, link))
    },

    close() {
      for (const end of open) end()
      forward.close()
    },
  }
}

function failure(error: Error, { port }: Link): { status: number; text: string } {
  if (error instanceof Problem) return { status: error.status, text: error.detail ?? error.message }
  if (error.message.startsWith('nothing answers'))
    return {
      status: 502,
      text: `Nothing listens on port ${port} in this sandbox yet. Start a server there, on 127.0.0.1 or 0.0.0.0, and load this page again.`,
    }
  return { status: 502, text: `Port ${port} in this sandbox gave no answer.` }
}
