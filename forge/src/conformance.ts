import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { type Account, type Forge, ForgeError, type RepositorySearch } from './forge.ts'

/**
 * What a member is tested against: a forge that holds exactly this, as far as it knows such things.
 * - Users `ada` and `bob`, both with tokens.
 * - `acme/widgets`: private, ada writes, 130 branches `topic/000`…`topic/128` and a protected `main`, pushed last.
 * - `acme/gadgets`: public, ada writes, 5 stars, pushed before.
 * - `bob/secret`: private, bob's alone. `bob/gadget-box`: public, bob's, 9 stars.
 * - `acme/part-000` … `acme/part-119`: private, ada writes, pushed long ago.
 * - In `acme/widgets`, by ada: pull requests 1 (conflicts), 2 (checks fail), 3 (bob waits for an answer), 4 (in order);
 *   issue 7 is assigned to ada, issue 8 to bob.
 */
export interface ForgeWorld {
  host: string
  token: string
  open: (account: Partial<Account>) => Forge
  installations: string[] | null
  /** Of `acme/widgets`. */
  cloneUrl: string
  /** What this kind of forge counts, tells and looks through: stars, the time of a push, issues, the repositories of strangers. */
  knows: Record<'stars' | 'pushes' | 'issues' | 'strangers', boolean>
  comments: () => { repository: string; number: number; author: string; body: string }[]
  /** Takes the place of every REST answer; null mends it. */
  breakWith: (fault: WorldFault | null) => void
  [Symbol.asyncDispose](): Promise<void>
}

export type WorldFault =
  | { kind: 'status'; status: number; headers?: Record<string, string> }
  | { kind: 'silence' }
  | { kind: 'not json' }
  | { kind: 'moved'; to: string }

const search = (more: Partial<RepositorySearch>): RepositorySearch => ({
  query: null,
  installationId: null,
  sort: null,
  cursor: null,
  limit: 100,
  ...more,
})

const failing = (failure: string) => (error: unknown) => error instanceof ForgeError && error.failure === failure

/** Registers the tests that every member passes; they share one world. */
export function forgeConformance(name: string, openWorld: () => Promise<ForgeWorld>): void {
  describe(name, () => {
    let world: ForgeWorld
    before(async () => void (world = await openWorld()))
    beforeEach(() => world.breakWith(null))
    after(() => world[Symbol.asyncDispose]())
    const promise: Promised = (sentence, body) => test(sentence, () => body(world, world.open({})))
    accounts(promise)
    repositories(promise)
    branches(promise)
    work(promise)
    failures(promise)
  })
}

type Promised = (sentence: string, body: (world: ForgeWorld, forge: Forge) => Promise<void>) => Promise<void>

function accounts(promise: Promised): void {
  promise('an account says whose it is, and a wrong token is rejected', async (world, forge) => {
    assert.equal((await forge.whoAmI()).login, 'ada')
    await assert.rejects(world.open({ token: 'wrong' }).whoAmI(), failing('token_rejected'))
  })

  promise('the credential of git holds the token, and the clone address does not', async (world, forge) => {
    assert.equal(forge.credential()?.password, world.token)
    assert.equal(world.open({ token: null }).credential(), null)
    assert.equal(forge.cloneUrl('acme/widgets'), world.cloneUrl)
    assert.ok(!forge.cloneUrl('acme/widgets').includes(world.token))
  })

  promise('installations are listed or are said not to exist', async (world, forge) => {
    if (world.installations === null) await assert.rejects(forge.installations(), failing('not_offered'))
    else assert.deepEqual(await forge.installations(), world.installations)
  })
}

function repositories(promise: Promised): void {
  promise('a repository is found; an absent one and a foreign private one are alike', async (world, forge) => {
    const found = await forge.repository('acme/widgets')
    assert.equal(found?.full_name, 'acme/widgets')
    assert.equal(found.is_public, false)
    assert.equal(found.main_branch, 'main')
    for (const name of ['acme/nothing', 'bob/secret', '../user', 'acme/widgets/..', '-x/y', 'acme']) {
      assert.equal(await forge.repository(name), null, name)
    }
    const stranger = world.open({ token: null })
    assert.equal((await stranger.repository('acme/gadgets'))?.is_public, true)
    assert.equal(await stranger.repository('acme/widgets'), null)
  })

  promise(
    'its own repositories come last pushed first, each once, whatever the page size',
    async ({ knows }, forge) => {
      const names: string[] = []
      for (let cursor: string | null = null, first = true; first || cursor !== null; first = false) {
        const listing = await forge.repositories(search({ cursor, limit: 47 }))
        assert.ok(listing.items.length > 0)
        names.push(...listing.items.map((item) => item.full_name))
        cursor = listing.next
      }
      if (knows.pushes) assert.deepEqual(names.slice(0, 2), ['acme/widgets', 'acme/gadgets'])
      const mine = names.filter((name) => name.startsWith('acme/'))
      assert.equal(mine.length, 122)
      assert.equal(new Set(names).size, names.length)
      assert.ok(!names.includes('bob/secret'))
      assert.equal((await forge.repositories(search({ limit: 100 }))).items.length, 100)
    },
  )

  promise('a search goes over the whole forge in the order asked for', async ({ knows }, forge) => {
    const names = async (more: Partial<RepositorySearch>) =>
      (await forge.repositories(search({ query: 'gadget', ...more }))).items.map((item) => item.full_name)
    const found = knows.strangers ? ['bob/gadget-box', 'acme/gadgets'] : ['acme/gadgets']
    if (knows.stars) {
      assert.deepEqual(await names({}), found)
      assert.deepEqual(await names({ sort: 'stars-asc' }), found.toReversed())
    } else {
      assert.deepEqual((await names({})).toSorted(), found.toSorted())
      await assert.rejects(names({ sort: 'stars-asc' }), failing('not_offered'))
    }
    assert.deepEqual(await names({ query: 'secret' }), [])
  })

  promise('the address of a repository finds that repository', async (_world, forge) => {
    const names = async (query: string) =>
      (await forge.repositories(search({ query }))).items.map((one) => one.full_name)
    assert.deepEqual(await names(forge.cloneUrl('bob/gadget-box')), ['bob/gadget-box'])
    assert.deepEqual(await names(forge.cloneUrl('bob/secret')), [])
  })
}

function branches(promise: Promised): void {
  promise('every branch is listed once over pages', async (_world, forge) => {
    const names: string[] = []
    for (let cursor: string | null = null, first = true; first || cursor !== null; first = false) {
      const listing = await forge.branches('acme/widgets', { query: '', cursor, limit: 30 })
      names.push(...listing.items.map((item) => item.name))
      cursor = listing.next
    }
    assert.equal(new Set(names).size, 130)
    assert.equal(names.length, 130)
  })

  promise('a filter finds a branch wherever it stands, and its page has no empty successor', async (_world, forge) => {
    const late = await forge.branches('acme/widgets', { query: 'PIC/128', cursor: null, limit: 30 })
    assert.deepEqual(
      late.items.map((item) => item.name),
      ['topic/128'],
    )
    assert.equal(late.next, null)
    const ten = await forge.branches('acme/widgets', { query: 'topic/00', cursor: null, limit: 10 })
    assert.equal(ten.items.length, 10)
    assert.equal(ten.next, null)
  })

  promise('a branch shows its commit, its time and whether it is protected', async (_world, forge) => {
    const main = (await forge.branches('acme/widgets', { query: 'main', cursor: null, limit: 30 })).items[0]
    assert.equal(main?.protected, true)
    assert.match(main.commit_sha, /^[0-9a-f]{40}$/)
    assert.ok(main.last_push_date === null || !Number.isNaN(Date.parse(main.last_push_date)))
    const named = await forge.branches('acme/gadgets', { query: '', cursor: null, limit: 30 })
    assert.equal(named.items[0]?.protected, false)
  })

  promise('the branches of a repository out of reach are not found', async (_world, forge) => {
    const none = { query: '', cursor: null, limit: 30 }
    await assert.rejects(forge.branches('bob/secret', none), failing('not_found'))
    await assert.rejects(async () => forge.branches('../secret', none), failing('not_found'))
  })
}

function work(promise: Promised): void {
  promise('suggested tasks are the troubled pull requests of the account and its issues', async ({ knows }, forge) => {
    const tasks = await forge.suggestedTasks()
    assert.deepEqual(
      tasks.map((task) => [task.git_provider, task.repo, task.task_type, task.issue_number]),
      [
        [forge.kind, 'acme/widgets', 'MERGE_CONFLICTS', 1],
        [forge.kind, 'acme/widgets', 'FAILING_CHECKS', 2],
        [forge.kind, 'acme/widgets', 'UNRESOLVED_COMMENTS', 3],
        ...(knows.issues ? [[forge.kind, 'acme/widgets', 'OPEN_ISSUE', 7]] : []),
      ],
    )
  })

  promise('a comment reaches the issue, and a pull request is opened', async (world, forge) => {
    const body = 'Done: **3** files changed.\n'
    const { url } = await forge.comment({ repository: 'acme/widgets', on: 'issue', number: 7, body, inReplyTo: null })
    assert.ok(url.startsWith(world.host))
    const [comment] = world.comments()
    assert.deepEqual(
      [comment?.repository, comment?.number, comment?.author, comment?.body],
      ['acme/widgets', 7, 'ada', body],
    )
    const wish = { head: 'topic/001', base: 'main', title: 'Widgets turn', body: '' }
    const made = await forge.createPullRequest({ repository: 'acme/widgets', ...wish })
    assert.ok(made.number > 0 && made.url.startsWith(world.host) && made.url.includes('widgets'))
  })
}

function failures(promise: Promised): void {
  promise('a forge that fails, limits or answers nonsense is an error that says so', async (world, forge) => {
    const faults: [WorldFault, string][] = [
      [{ kind: 'status', status: 500 }, 'failed'],
      [{ kind: 'status', status: 502 }, 'failed'],
      [{ kind: 'status', status: 429, headers: { 'retry-after': '7' } }, 'rate_limited'],
      [{ kind: 'status', status: 403, headers: { 'x-ratelimit-remaining': '0' } }, 'rate_limited'],
      [{ kind: 'status', status: 401 }, 'token_rejected'],
      [{ kind: 'not json' }, 'failed'],
    ]
    for (const [fault, failure] of faults) {
      world.breakWith(fault)
      await assert.rejects(forge.repository('acme/widgets'), failing(failure), JSON.stringify(fault))
      await assert.rejects(forge.whoAmI(), failing(failure), JSON.stringify(fault))
      const branches = forge.branches('acme/widgets', { query: '', cursor: null, limit: 30 })
      await assert.rejects(branches, failing(failure), JSON.stringify(fault))
      await assert.rejects(forge.repositories(search({ query: 'x' })), failing(failure), JSON.stringify(fault))
      await assert.rejects(forge.suggestedTasks(), failing(failure), JSON.stringify(fault))
    }
    world.breakWith({ kind: 'status', status: 429, headers: { 'retry-after': '7' } })
    await assert.rejects(forge.whoAmI(), { retryAfter: 7 })
  })

  promise('a forge that is silent ends with the deadline, and one that is gone cannot be reached', async (world) => {
    world.breakWith({ kind: 'silence' })
    await assert.rejects(world.open({ signal: AbortSignal.timeout(100) }).whoAmI(), failing('timed_out'))
    const calledOff = new Error('called off')
    await assert.rejects(world.open({ signal: AbortSignal.abort(calledOff) }).whoAmI(), calledOff)
    await assert.rejects(world.open({ host: 'http://127.0.0.1:1' }).whoAmI(), failing('failed'))
  })

  promise('the token goes to no other host than the forge', async (world, forge) => {
    world.breakWith({ kind: 'moved', to: 'http://127.0.0.1:1/elsewhere' })
    await assert.rejects(forge.whoAmI(), failing('failed'))
  })

  promise('no error shows the token', async (world, forge) => {
    world.breakWith({ kind: 'status', status: 500 })
    const error = await forge.whoAmI().catch((cause: unknown) => cause)
    assert.ok(error instanceof ForgeError)
    const shown = `${String(error)} ${JSON.stringify(error)} ${error.stack}`
    assert.ok(!shown.includes(world.token))
  })
}
