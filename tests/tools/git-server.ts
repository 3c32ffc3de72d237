import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { makeBareRepository, type RepositorySetup } from './bare-repository.ts'
import { answerGit } from './git-http-backend.ts'

const run = promisify(execFile)

export interface HostedSetup extends RepositorySetup {
  /** Nobody reads it without being a member. Default true. */
  private?: boolean
  /** Login to right. Default: every user of the server may write. */
  members?: Record<string, 'read' | 'write'>
}

export interface GitServerSetup<R extends HostedSetup = HostedSetup> {
  /** The token of the user `ada`; `users` adds more, login to token. */
  token?: string
  users?: Record<string, string>
  /** `owner/name` to what it holds. */
  repositories: Record<string, R>
  /** With a self-made certificate for 127.0.0.1 and localhost; its authority is `ca`. */
  tls?: boolean
  /** Of loopback; 127.0.0.1 unless said. A sandbox takes that one for itself and reaches another one through its way out. */
  address?: string
}

/** One request as it came; `authorization` is kept so that a test can say where a token went. */
export interface SeenRequest {
  method: string
  path: string
  authorization: string | null
  login: string | null
  status: number
}

export interface GitServer {
  url: string
  /** PEM; null without TLS. */
  ca: string | null
  /** `owner/name` to the folder of its bare repository. */
  repositories: Record<string, string>
  requests: SeenRequest[]
  [Symbol.asyncDispose](): Promise<void>
}

/** What may answer before git does; false hands the request on. */
export type Before = (request: IncomingMessage, response: ServerResponse, login: string | null) => Promise<boolean>

/**
 * Real git over smart HTTP on loopback: `{url}/{owner}/{name}` with or without `.git`, basic authentication with any user
 * name and a token as the password. Wrong token: 401; no right: 404, as forges answer.
 */
export async function openGitServer(setup: GitServerSetup, before?: Before): Promise<GitServer> {
  const folder = await mkdtemp(join(tmpdir(), 'parley-git-'))
  const tokens = new Map(Object.entries(setup.users ?? {}).map(([login, token]) => [token, login]))
  if (setup.token !== undefined) tokens.set(setup.token, 'ada')
  const repositories: Record<string, string> = {}
  for (const [name, hosted] of Object.entries(setup.repositories)) {
    repositories[name] = join(folder, `${name}.git`)
    await makeBareRepository(repositories[name], hosted)
  }
  const requests: SeenRequest[] = []
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const authorization = request.headers.authorization ?? null
    const login = loginOf(authorization, tokens)
    const seen = {
      method: request.method ?? '',
      path: request.url ?? '',
      authorization,
      login: login ?? null,
      status: 0,
    }
    requests.push(seen)
    response.once('close', () => (seen.status = response.statusCode))
    if (login === undefined) return refuse(response, 401)
    if (before !== undefined && (await before(request, response, login))) return
    await serveGit(request, response, { folder, login, repositories: setup.repositories })
  }
  const listener = (request: IncomingMessage, response: ServerResponse) => {
    answer(request, response).catch(() => response.destroy())
  }
  const secure = setup.tls === true ? await certificate(folder) : null
  const server = secure === null ? createServer(listener) : createTlsServer(secure, listener)
  const address = setup.address ?? '127.0.0.1'
  await new Promise<void>((resolve) => server.listen(0, address, resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `${secure === null ? 'http' : 'https'}://${address}:${port}`,
    ca: secure?.cert ?? null,
    repositories,
    requests,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** Null: no credential was sent. Undefined: one was sent and it is wrong. */
function loginOf(authorization: string | null, tokens: Map<string, string>): string | null | undefined {
  if (authorization === null) return null
  const [scheme = '', value = ''] = authorization.split(' ')
  if (/^(bearer|token)$/i.test(scheme)) return tokens.get(value)
  return tokens.get(Buffer.from(value, 'base64').toString().split(':').slice(1).join(':'))
}

/** What `login` may do with a repository. */
export function rightOf(hosted: HostedSetup | undefined, login: string | null): 'none' | 'read' | 'write' {
  if (hosted === undefined) return 'none'
  const right = login === null ? undefined : hosted.members === undefined ? 'write' : hosted.members[login]
  return right ?? (hosted.private === false ? 'read' : 'none')
}

interface Asked {
  folder: string
  login: string | null
  repositories: Record<string, HostedSetup>
}

async function serveGit(request: IncomingMessage, response: ServerResponse, { folder, login, repositories }: Asked) {
  const url = new URL(request.url ?? '/', 'http://git.test')
  const [, name = '', service] =
    /^\/([^/]+\/[^/]+?)(?:\.git)?\/(info\/refs|git-upload-pack|git-receive-pack)$/.exec(url.pathname) ?? []
  const hosted = Object.hasOwn(repositories, name) ? repositories[name] : undefined
  const right = rightOf(hosted, login)
  const writes = service === 'git-receive-pack' || url.searchParams.get('service') === 'git-receive-pack'
  if (service === undefined || (right === 'none' && login !== null)) return refuse(response, 404)
  if (right === 'none' || (writes && login === null)) return refuse(response, 401)
  if (writes && right === 'read') return refuse(response, 403)
  await answerGit(request, response, {
    root: folder,
    path: `/${name}.git/${service}`,
    query: url.search.slice(1),
    login,
  })
}

function refuse(response: ServerResponse, status: number): void {
  response.writeHead(status, status === 401 ? { 'www-authenticate': 'Basic realm="git"' } : {})
  response.end()
}

async function certificate(folder: string): Promise<{ key: string; cert: string }> {
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=IP:127.0.0.1,DNS:localhost']
  const made = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2']
  await run('openssl', ['req', '-x509', ...made, ...subject, '-keyout', key, '-out', cert])
  return { key: await readFile(key, 'utf8'), cert: await readFile(cert, 'utf8') }
}
