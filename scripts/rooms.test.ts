import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { readSources } from './sources.ts'
import { breaches } from './walls.ts'

const clean = {
  'contract/src/secrets.ts': "import { z } from 'zod'\nexport const Secret = z.string()\n",
  'wire/src/serve.ts':
    "import fastify from 'fastify'\nimport '@parley/contract/secrets'\nexport const serve = fastify\n",
  'store/src/page.ts': "import { sql } from 'kysely'\nexport const page = sql`select 1`\n",
  'server/src/access/service.ts': 'export const access = 1\n',
  'server/src/secrets/store.ts': "import { sql } from 'kysely'\nexport const rows = sql`select 2`\n",
  'server/src/secrets/service.ts': "import { access } from '../access/service.ts'\nexport const secrets = access\n",
  'server/src/secrets/routes.ts': "import { secrets } from './service.ts'\nexport const routes = [secrets]\n",
  'server/src/secrets/secrets.test.ts': "import { rows } from '../access/store.ts'\nexport const seen = rows\n",
  'server/src/config.ts': 'export const home = process.env.HOME\n',
  'server/src/server.ts': "import { routes } from './secrets/routes.ts'\nexport const all = routes\n",
}

test('a tree that keeps to the walls has no breach', (t) => {
  assert.deepEqual(seen(t, {}), [])
})

test('a package imports lower floors only, by name', (t) => {
  assert.deepEqual(
    seen(t, {
      'wire/src/up.ts': "import { open } from '@parley/store/database'\nexport const x = open\n",
      'sandbox/src/side.ts': "import type { Clock } from '@parley/store/clock'\nexport type C = Clock\n",
      'client/src/up.ts': "export const x = await import('@parley/server/server')\n",
      'agent/src/clock.ts': "import type { Clock } from '@parley/store/clock'\nexport type C = Clock\n",
      'agent/src/rows.ts': "export type D = import('@parley/store/database').Database\n",
      'store/src/path.ts': "import '../../wire/src/serve.ts'\n",
      'store/src/self.ts': "import '@parley/store/page'\n",
    }),
    [
      'agent/src/rows.ts:1 floor',
      'client/src/up.ts:1 floor',
      'sandbox/src/side.ts:1 floor',
      'store/src/path.ts:1 floor',
      'store/src/self.ts:1 floor',
      'wire/src/up.ts:1 floor',
    ],
  )
})

test('an earlier slice knows no later one, and others by their service only', (t) => {
  assert.deepEqual(
    seen(t, {
      'server/src/access/up.ts':
        "import type { secrets } from '../secrets/service.ts'\nexport type S = typeof secrets\n",
      'server/src/settings/door.ts': "import { rows } from '../secrets/store.ts'\nexport const x = rows\n",
      'server/src/git/wired.ts': "import { all } from '../server.ts'\nexport const x = all\n",
      'server/src/loose.ts': "import { secrets } from './secrets/service.ts'\nexport const x = secrets\n",
    }),
    [
      'server/src/access/up.ts:1 slice',
      'server/src/git/wired.ts:1 slice',
      'server/src/loose.ts:1 slice',
      'server/src/settings/door.ts:1 slice',
    ],
  )
})

test('each library stays in its rooms', (t) => {
  assert.deepEqual(
    seen(t, {
      'contract/src/more.ts':
        "import { v7 } from 'uuid'\nimport { join } from 'node:path'\nexport const x = [v7, join]\n",
      'server/src/health/routes.ts': "import fastify from 'fastify'\nexport const x = fastify\n",
      'server/src/health/service.ts': "import type { Kysely } from 'kysely'\nexport type K = Kysely<unknown>\n",
      'agent/src/turn.ts': "import { x } from '@ai-sdk/openai'\nexport const y = x\n",
    }),
    [
      'agent/src/turn.ts:1 library',
      'contract/src/more.ts:1 library',
      'contract/src/more.ts:2 library',
      'server/src/health/routes.ts:1 library',
      'server/src/health/service.ts:1 library',
    ],
  )
})

test('SQL, the environment and foreign words are said in their rooms only; comments and texts are free', (t) => {
  assert.deepEqual(
    seen(t, {
      'server/src/health/service.ts':
        "export const x = (db: { selectFrom(t: string): void }) => db.selectFrom('user')\n",
      'server/src/users/service.ts': 'export const x = process.env.HOME\n',
      'wire/src/nouns.ts':
        "/** Of a conversation. */\nexport const text = 'conversation'\nexport const conversationId = 1\n",
      'agent/src/who.ts': 'export const ownerId = 1\n',
      'web/src/page.ts': "export const x = () => fetch('/')\n",
    }),
    [
      'agent/src/who.ts:1 word',
      'server/src/health/service.ts:1 sql',
      'server/src/users/service.ts:1 environment',
      'web/src/page.ts:1 word',
      'wire/src/nouns.ts:3 word',
    ],
  )
})

test('routes do not branch', (t) => {
  const branch = 'export const x = (on: boolean) => {\n  if (on) return 1\n  return on ? 2 : 3\n}\n'
  assert.deepEqual(seen(t, { 'server/src/users/routes.ts': branch, 'server/src/users/service.ts': branch }), [
    'server/src/users/routes.ts:2 routes',
    'server/src/users/routes.ts:3 routes',
  ])
})

test('there are no default exports and no barrels', (t) => {
  assert.deepEqual(
    seen(t, {
      'store/src/a.ts': 'const a = 1\nexport default a\n',
      'store/src/b.ts': 'export default function b() {}\n',
      'store/src/c.ts': "export * from './page.ts'\nexport const c = 1\n",
      'store/src/d.ts': "export { page } from './page.ts'\n",
      'web/vite.config.ts': 'export default {}\n',
    }),
    ['store/src/a.ts:2 export', 'store/src/b.ts:1 export', 'store/src/c.ts:1 export', 'store/src/d.ts:1 export'],
  )
})

test('imports make no circle, types included', (t) => {
  const found = seen(t, {
    'store/src/a.ts': "import { b } from './b.ts'\nexport const a = b\nexport type A = 1\n",
    'store/src/b.ts': "import { c } from './c.ts'\nexport const b = c\n",
    'store/src/c.ts': "import type { A } from './a.ts'\nexport const c: A = 1\n",
    'store/src/self.ts': "import './self.ts'\n",
    'store/src/e.ts': "import { b } from './b.ts'\nexport const e = b\n",
  })
  assert.deepEqual(found, ['store/src/c.ts:1 circle', 'store/src/self.ts:1 circle'])
})

test('files and functions have a size, and names say what a file is', (t) => {
  const long = (lines: number) => `export const x = [\n${'  1,\n'.repeat(lines - 2)}]\n`
  const body = (lines: number) => `export function f() {\n${'  f()\n'.repeat(lines - 2)}}\n`
  assert.deepEqual(
    seen(t, {
      'store/src/long.ts': long(401),
      'store/src/look.ts': long(251),
      'store/src/fine.ts': long(250),
      'store/src/function.ts': body(41),
      'store/src/short.ts': body(40),
      'store/src/nested.ts': `export const g = () => {\n${'const h = () => {\n  g()\n  g()\n}\n'.repeat(12)}}\n`,
      'store/src/utils.ts': 'export const x = 1\n',
      'store/src/camelCase.ts': 'export const x = 1\n',
      'server/src/secrets/secrets-rows.ts': 'export const x = 1\n',
      'server/src/sandboxes/sandbox-rows.ts': 'export const x = 1\n',
    }),
    [
      'server/src/sandboxes/sandbox-rows.ts:1 name',
      'server/src/secrets/secrets-rows.ts:1 name',
      'store/src/camelCase.ts:1 name',
      'store/src/function.ts:1 size',
      'store/src/long.ts:1 size',
      'store/src/look.ts:1 look',
      'store/src/utils.ts:1 name',
    ],
  )
})

test('the program prints each breach and ends with 1, or with 0 when there is none', (t) => {
  const run = (root: string) => {
    const done = spawnSync(process.execPath, [join(import.meta.dirname, 'rooms.ts'), root], { encoding: 'utf8' })
    return { status: done.status, said: done.stdout }
  }
  assert.deepEqual(run(plant(t, clean)), { status: 0, said: '10 files, 0 breaches\n' })
  const broken = run(plant(t, { ...clean, 'store/src/utils.ts': 'export const x = 1\n' }))
  assert.equal(broken.status, 1)
  assert.match(broken.said, /^store\/src\/utils\.ts:1 name: .*\n11 files, 1 breaches\n$/)
})

/** What is found in the clean tree with these files added, as `path:line wall`. */
function seen(t: TestContext, files: Record<string, string>): string[] {
  const found = breaches(readSources(plant(t, { ...clean, ...files })))
  return found.map(({ path, line, wall }) => `${path}:${line} ${wall}`)
}

function plant(t: TestContext, files: Record<string, string>): string {
  const root = mkdtempSync(join(tmpdir(), 'parley-rooms-'))
  t.after(() => rmSync(root, { recursive: true }))
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
  return root
}
