import { Problem } from '@parley/contract/problems'
import type { FastifyContextConfig, FastifyInstance, FastifyRequest } from 'fastify'
import { callOf, type Carrier, type Passage } from './carry.ts'
import { admit, type Asked, type Doors } from './doors.ts'
import { type Log, problemBody, toProblem } from './problem.ts'
import type { Served } from './serve.ts'
import { type RawSocket, socket, type Socket, type SocketPace } from './socket.ts'

/*
 * A WebSocket from handshake to handler. Who asks is known from the headers, or from the first message
 * `{"type":"auth","session_api_key":"…"}` (also `key`), which must come in time. Close codes: 4001 who are you, 4004 not
 * found, 4003 may not, 4000 other problems, 1011 our bug, 1001 the server closes.
 */

export interface SocketLimits extends SocketPace {
  /** For the first message of a client that sent no key in a header. */
  authMs: number
  maxMessageBytes: number
}

interface Way {
  url: string
  config: FastifyContextConfig
  carrier: Carrier
  served: Served
}

interface Means {
  doors: Doors
  log: Log
  limits: SocketLimits
  asked(request: FastifyRequest, cookie: (name: string) => string | undefined): Omit<Asked, 'key'>
}

export function openSocket(app: FastifyInstance, way: Way, means: Means): void {
  app.route({
    method: 'GET',
    url: way.url,
    config: way.config,
    exposeHeadRoute: false,
    websocket: true,
    handler: (raw: RawSocket, request: FastifyRequest) => void attend(way, means, raw, request),
  })
}

async function attend(way: Way, means: Means, raw: RawSocket, request: FastifyRequest): Promise<void> {
  const line = socket(raw, means.limits)
  const { passage } = request
  if (!passage) return line.close(1011, 'internal error')
  const leave = () => line.close(1001, 'server closing')
  passage.closing.addEventListener('abort', leave, { once: true })
  try {
    const who = passage.who.kind === 'nobody' ? await introduced(way, means, line, { request, passage }) : passage.who
    const input = { params: way.carrier.parser.params(passage.params), query: way.carrier.parser.query(passage.query) }
    const call = callOf(
      { ...passage, who, request: { ...passage.request, signal: line.signal } },
      { ...input, body: undefined },
      line,
    )
    await way.served.handle(call)
    line.close(1000, 'done')
  } catch (error) {
    const problem = toProblem(error, means.log, { request_id: passage.id, route: way.served.endpoint.path })
    line.send(JSON.stringify(problemBody(problem, passage.id)))
    line.close(closeCode(problem), problem.code)
  } finally {
    passage.closing.removeEventListener('abort', leave)
  }
}

interface Met {
  request: FastifyRequest
  passage: Passage
}

async function introduced({ served }: Way, { doors, limits, asked }: Means, line: Socket, { request, passage }: Met) {
  if (served.endpoint.access === 'open') return passage.who
  const first = await firstMessage(line, limits.authMs)
  return admit(doors, served.endpoint.access, asked(request, passage.request.cookie), keyIn(first))
}

async function firstMessage(line: Socket, ms: number): Promise<string | undefined> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<undefined>((resolve) => (timer = setTimeout(() => resolve(undefined), ms)))
  const next = line.messages[Symbol.asyncIterator]().next()
  const result = await Promise.race([next, late])
  clearTimeout(timer)
  return result === undefined || result.done ? undefined : result.value
}

/** The key in the first message, or Problem 401: a message that is no introduction introduces nobody. */
function keyIn(message: string | undefined): string {
  try {
    const said: unknown = JSON.parse(message ?? '')
    if (typeof said === 'object' && said !== null && 'type' in said && said.type === 'auth') {
      const key = 'key' in said ? said.key : 'session_api_key' in said ? said.session_api_key : undefined
      if (typeof key === 'string' && key !== '') return key
    }
  } catch {
    // Not JSON: the same answer as no key.
  }
  throw new Problem('authentication_error')
}

function closeCode({ status, code }: Problem): number {
  if (code === 'capacity' || code === 'unavailable') return 1013
  if (status >= 500) return 1011
  return { 401: 4001, 403: 4003, 404: 4004 }[status] ?? 4000
}
