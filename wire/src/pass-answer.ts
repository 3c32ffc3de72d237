import type { ClientRequest, ServerResponse } from 'node:http'
import { pipeline } from 'node:stream'

interface Passing {
  /** Of the answer as `rawHeaders` has them; what it gives is sent on. */
  headers: (raw: readonly string[]) => string[]
  /** Answers in its place: whoever answered decides what stands there, and Node throws at what is no HTTP. */
  noHttp: () => void
  /** Called at the end, with an error when the answer is not whole. */
  over: (error: Error | null) => void
}

/** Sends on what a server answers, with its status and without its own words beside that. */
export function passAnswer(
  upstream: ClientRequest,
  response: ServerResponse,
  { headers, noHttp, over }: Passing,
): void {
  upstream.on('upgrade', (_, socket) => {
    socket.destroy() // nobody asked for another protocol
    noHttp()
  })
  upstream.on('response', (answer) => {
    if (begin(response, answer.statusCode, headers(answer.rawHeaders)))
      return void pipeline(answer, response, (error) => over(error ?? null))
    answer.destroy()
    noHttp()
  })
}

/** False, and nothing is sent, when these may not be passed on. */
function begin(response: ServerResponse, status = 0, headers: string[]): boolean {
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
