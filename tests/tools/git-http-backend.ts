import { spawn } from 'node:child_process'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { plainGit } from './bare-repository.ts'

const LARGEST_HEAD = 16 * 1024

export interface GitCall {
  /** Folder of the bare repositories. */
  root: string
  /** Path below it, such as `/acme/widgets.git/info/refs`. */
  path: string
  query: string
  /** Who asks; null may only read. */
  login: string | null
}

/** Answers one request of git's smart HTTP protocol with the real `git http-backend`, run as a CGI program. */
export async function answerGit(request: IncomingMessage, response: ServerResponse, call: GitCall): Promise<void> {
  const backend = spawn('git', ['http-backend'], { env: environment(request, call), stdio: ['pipe', 'pipe', 'ignore'] })
  response.once('close', () => backend.kill())
  const sent = pipeline(request, backend.stdin).catch(() => undefined)
  const { head, rest } = await readHead(backend.stdout)
  response.writeHead(statusOf(head), [...head].filter(([name]) => name !== 'status').flat())
  response.write(rest)
  await pipeline(backend.stdout, response)
  await sent
}

function environment(request: IncomingMessage, { root, path, query, login }: GitCall): Record<string, string> {
  const header = (name: string) => String(request.headers[name] ?? '')
  return {
    ...plainGit,
    GIT_PROJECT_ROOT: root,
    GIT_HTTP_EXPORT_ALL: '1',
    PATH_INFO: path,
    QUERY_STRING: query,
    REQUEST_METHOD: request.method ?? 'GET',
    CONTENT_TYPE: header('content-type'),
    ...(request.headers['content-length'] === undefined ? {} : { CONTENT_LENGTH: header('content-length') }),
    HTTP_CONTENT_ENCODING: header('content-encoding'),
    GIT_PROTOCOL: header('git-protocol'),
    REMOTE_ADDR: '127.0.0.1',
    ...(login === null ? {} : { REMOTE_USER: login }),
  }
}

async function readHead(output: Readable): Promise<{ head: Map<string, string>; rest: Buffer }> {
  let seen = Buffer.alloc(0)
  for await (const chunk of output.iterator({ destroyOnReturn: false })) {
    seen = Buffer.concat([seen, chunk as Buffer])
    const end = seen.indexOf('\r\n\r\n')
    if (end >= 0) return { head: headers(seen.subarray(0, end).toString('latin1')), rest: seen.subarray(end + 4) }
    if (seen.length > LARGEST_HEAD) break
  }
  throw new Error('git http-backend gave no head')
}

const headers = (text: string): Map<string, string> =>
  new Map(
    text.split('\r\n').map((line) => {
      const colon = line.indexOf(':')
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()]
    }),
  )

const statusOf = (head: Map<string, string>): number => Number.parseInt(head.get('status') ?? '200', 10)
