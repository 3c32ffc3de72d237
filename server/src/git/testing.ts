import { randomBytes, randomUUID } from 'node:crypto'
import type { ProviderToken } from '@parley/contract/git'
import { systemClock } from '@parley/store/clock'
import { openCursor } from '@parley/store/page'
import { openSeal } from '@parley/store/seal'
import { openTestDatabase } from '@parley/store/testing'
import { outbound } from '@parley/wire/outbound'
import { sql } from 'kysely'
import { type DialectName, openForgeServer } from '../../../tests/tools/forge-server.ts'
import { migrations } from '../migrations/migrations.ts'
import { type GitRequest, gitService } from './service.ts'
import { gitStore } from './store.ts'

const adas = { members: { ada: 'write' } } as const

/** A database with the users ada and bob, and a forge where each has an account. `listed`: the private hosts; the forge unless said. */
export async function openHouse(listed?: string[], dialect: DialectName = 'gitea') {
  const test = await openTestDatabase(migrations)
  const forge = await openForgeServer({
    dialect,
    users: { ada: 'token-of-ada', bob: 'token-of-bob' },
    repositories: {
      'acme/widgets': { ...adas, branches: ['feature/x', 'feature/y'], issues: [issue] },
      'acme/gadgets': { ...adas, private: false, stars: 3 },
      'acme/parts': adas,
      'bob/secret': { members: { bob: 'write' } },
    },
  })
  const [ada, bob] = [randomUUID(), randomUUID()]
  for (const [id, role] of [
    [ada, 'owner'],
    [bob, 'member'],
  ] as const) {
    await test.database.rows(sql`insert into app_user (id, email, role) values (${id}, ${id}, ${role})`)
  }
  const privateHosts = listed ?? [new URL(forge.url).host]
  const way = outbound({ privateHosts })
  const kek = randomBytes(32)
  const git = gitService({
    store: gitStore(test.database),
    apart: test.database.apart,
    seal: await openSeal({ database: test.database, keks: [kek] }),
    clock: systemClock,
    cursor: openCursor([kek]),
    fetch: (url, init) => way.fetch(url, { ...init, redirects: 3 }),
    privateHosts,
  })
  const entry = (token: string | null, host: string | null = forge.host): ProviderToken => ({
    token,
    user_id: null,
    host,
  })
  const dispose = async () => {
    await way.close()
    await forge[Symbol.asyncDispose]()
    await test[Symbol.asyncDispose]()
  }
  return { git, forge, ada, bob, entry, database: test.database, [Symbol.asyncDispose]: dispose }
}

const issue = { number: 7, title: 'Widgets do not turn', author: 'bob', assignee: 'ada' }

export async function openConnectedHouse() {
  const house = await openHouse()
  await house.git.connect(house.ada, { open_forge: house.entry('token-of-ada') })
  return house
}

export const problem = (code: string) => ({ name: 'Problem', code })

/** A request of git in a sandbox whose conversation is about acme/widgets. */
export function gitRequest(owner: string, path: string, url: string, more: Partial<GitRequest> = {}): GitRequest {
  const { hostname, port } = new URL(url)
  const repositories = [{ provider: null, name: 'acme/widgets' }]
  const method = path.includes('?') ? 'GET' : 'POST'
  return { owner, repositories, scheme: 'http', host: hostname, port: Number(port), path, method, ...more }
}
