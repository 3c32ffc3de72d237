import type { IncomingMessage, ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { azureRest } from './azure-rest.ts'
import { branchesOf } from './bare-repository.ts'
import { bitbucketCloudRest } from './bitbucket-cloud-rest.ts'
import { bitbucketServerRest } from './bitbucket-server-rest.ts'
import type { HostedRepository, World } from './forge-world.ts'
import { type GitServer, type GitServerSetup, openGitServer } from './git-server.ts'
import { giteaRest } from './gitea-rest.ts'
import { githubRest } from './github-rest.ts'
import { gitlabRest } from './gitlab-rest.ts'

const dialects = {
  azure: azureRest,
  bitbucketCloud: bitbucketCloudRest,
  bitbucketServer: bitbucketServerRest,
  gitea: giteaRest,
  github: githubRest,
  gitlab: gitlabRest,
}
export type DialectName = keyof typeof dialects

/** What goes wrong with REST requests: a status, no answer at all, a page of a proxy, or a move to another address. */
export type Fault =
  | { kind: 'status'; status: number; headers?: Record<string, string> }
  | { kind: 'silence' }
  | { kind: 'not json' }
  | { kind: 'moved'; to: string }

export interface ForgeServer extends GitServer {
  /** What a client takes for the address of the forge. */
  host: string
  world: World
  /** Takes the place of each REST answer while it is set. */
  fault: Fault | null
}

export interface ForgeServerSetup extends GitServerSetup<HostedRepository> {
  dialect?: DialectName
  /** Repositories that are only listed: nothing of them is on disk. */
  unfilled?: Record<string, HostedRepository>
}

/** A git server that also speaks the REST interface of a forge, over the same users, tokens and repositories. */
export async function openForgeServer({
  dialect = 'gitea',
  unfilled = {},
  ...setup
}: ForgeServerSetup): Promise<ForgeServer> {
  const { base, rest, git: gitPath, answer } = dialects[dialect]
  const users = [...(setup.token === undefined ? [] : ['ada']), ...Object.keys(setup.users ?? {})]
  const world: World = { users, repositories: { ...setup.repositories, ...unfilled }, comments: [], pulls: [] }
  const git: GitServer = await openGitServer(setup, async (request, response, login) => {
    const url = new URL(request.url ?? '/', git.url)
    const path = rest(url.pathname)
    if (path === undefined) {
      request.url = `${gitPath(url.pathname)}${url.search}`
      return false
    }
    if (server.fault !== null) return fail(response, server.fault)
    const said = await answer({
      method: request.method ?? 'GET',
      path,
      query: url.searchParams,
      body: await bodyOf(request),
      login,
      url: `${git.url}${base}`,
      world,
      branchesOf: (repository) => branchesOf(git.repositories[repository] ?? ''),
    })
    response.writeHead(said.status, { 'content-type': 'application/json', ...said.headers })
    response.end(JSON.stringify(said.body))
    return true
  })
  const server: ForgeServer = Object.assign(git, { host: `${git.url}${base}`, world, fault: null })
  return server
}

async function bodyOf(request: IncomingMessage): Promise<Record<string, unknown>> {
  const said = await text(request)
  return said === '' ? {} : (JSON.parse(said) as Record<string, unknown>)
}

/** Sends the fault; true, because the request is then dealt with. Silence keeps the connection until the server ends. */
function fail(response: ServerResponse, fault: Fault): true {
  if (fault.kind === 'silence') return true
  if (fault.kind === 'moved') response.writeHead(301, { location: fault.to }).end()
  else if (fault.kind === 'not json') response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Sign in</h1>')
  else {
    response.writeHead(fault.status, { 'content-type': 'application/json', ...fault.headers })
    response.end('{"message":"The test asked for this."}')
  }
  return true
}
