import { Problem } from '@parley/contract/problems'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { callOf, type Passage } from './carry.ts'
import { admit } from './doors.ts'
import { asked, type Edge } from './edge.ts'
import { bucketOf } from './limits.ts'
import { parser } from './parse.ts'
import { fastifyPath } from './paths.ts'
import { problemBody, toProblem } from './problem.ts'
import type { Served } from './serve.ts'
import { type RawSocket, socket, type Socket, type SocketPace } from './socket.ts'

/*
 * A WebSocket from handshake to handler. Who asks is known from the headers, or from the first message
 * `{"type":"auth","api_key":"…"}` (also `session_api_key`), which must come in time. Close codes: 4001 who are you, 4004 not
 * found, 4003 may not, 4000 other problems, 1011 our bug, 1001 the server closes.
 */

export interface SocketLimits extends SocketPace {
  /** For the first message of a client that sent no key in a header. */
  authMs: number
  maxMessageBytes: number
}

interface Means {
  edge: Edge
  limits: SocketLimits
}

export function openSocket(app: FastifyInstance, served: Served, means: Means): void {
  const attend = attendant(served, means)
  app.route({
    method: 'GET',
    url: fastifyPath(served.endpoint.path),
    config: { served, bucket: bucketOf(served.endpoint) },
    exposeHeadRoute: false,
    websocket: true,
    handler: (raw: RawSocket, request: FastifyRequest) => void attend(raw, request),
  })
}

function attendant(served: Served, { edge, limits }: Means) {
  const parse = parser(served.endpoint)
  return async (raw: RawSocket, request: FastifyRequest): Promise<void> => {
    const line = socket(raw, limits)
    const { passage } = request
    if (!passage) return line.close(1011, 'internal error')
    const leave = () => line.close(1001, 'server closing')
    let unwatch: (() => void) | undefined
    passage.closing.addEventListener('abort', leave, { once: true })
    try {
      const isKnown = passage.who.kind !== 'nobody' || served.endpoint.access === 'open'
      const who = isKnown ? passage.who : await introduced(served, { edge, limits }, line, { request, passage })
      unwatch = edge.doors.watch?.(who, () => line.close(closeCodes[401], 'authentication_error'))
      const input = { params: parse.params(passage.params), query: parse.query(passage.query), body: undefined }
      const attended = { ...passage, who, request: { ...passage.request, signal: line.signal } }
      await served.handle(callOf(attended, input, { socket: line }))
      line.close(1000, 'done')
    } catch (error) {
      const problem = toProblem(error, edge.log, { request_id: passage.id, route: served.endpoint.path })
      line.send(JSON.stringify(problemBody(problem, passage.id)))
      line.close(closeCode(problem), problem.code)
    } finally {
      unwatch?.()
      passage.closing.removeEventListener('abort', leave)
    }
  }
}

interface Met {
  request: FastifyRequest
  passage: Passage
}

async function introduced(served: Served, { edge, limits }: Means, line: Socket, { request, passage }: Met) {
  const key = keyIn(await firstMessage(line, limits.authMs))
  return admit(edge.doors, served.endpoint.access, asked(request, passage.request.cookie), key)
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
      const { api_key, session_api_key } = said as Record<string, unknown>
      const key = api_key ?? session_api_key
      if (typeof key === 'string' && key !== '') return key
    }
  } catch {
    // Not JSON: the same answer as no key.
  }
  throw new Problem('authentication_error')
}

const closeCodes = { 401: 4001, 403: 4003, 404: 4004 } as const

function closeCode({ status, code }: Problem): number {
  if (code === 'capacity' || code === 'unavailable') return 1013
  if (status >= 500) return 1011
  return (closeCodes as Record<number, number>)[status] ?? 4000
}
