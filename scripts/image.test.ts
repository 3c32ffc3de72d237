import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { posix } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { readSources } from './sources.ts'

/* What the image of the server is made of: `deploy/Dockerfile` installs the production dependencies of each room. */

const root = fileURLToPath(new URL('..', import.meta.url))
const read = (path: string) => readFileSync(posix.join(root, path), 'utf8')
type Manifest = Record<'workspaces' | 'dependencies' | 'optionalDependencies', object | undefined>
const manifest = (folder: string) => JSON.parse(read(`${folder}/package.json`)) as Manifest
const rooms = (manifest('.').workspaces as string[]).filter((room) => room !== 'web').sort()

test('the image of the server has the dependencies of every room but the page', () => {
  const last =
    read('deploy/Dockerfile')
      .split(/^FROM /m)
      .at(-1) ?? ''
  const installed = [...last.matchAll(/--workspace (\S+)/g)].map(([, room]) => room)
  assert.deepEqual(installed.sort(), rooms)
})

test('what the program loads is in the production dependencies', () => {
  const installed = rooms.flatMap((room) => {
    const { dependencies, optionalDependencies } = manifest(room)
    return Object.keys({ ...dependencies, ...optionalDependencies })
  })
  const sources = new Map(readSources(root).map((source) => [source.path, source]))
  const seen = new Set(['server/src/main.ts', 'client/src/cli/main.ts'])
  const missing: string[] = []
  for (const path of seen) {
    const source = sources.get(path)
    assert.ok(source, path)
    for (const { specifier } of source.imports) {
      const [scope = '', name = '', ...rest] = specifier.split('/')
      if (specifier.startsWith('.')) {
        const target = posix.join(posix.dirname(path), specifier)
        if (target.endsWith('.ts')) seen.add(target)
      } else if (scope === '@parley') seen.add(`${name}/src/${rest.join('/')}.ts`)
      else if (!isBuiltin(specifier) && !installed.includes(scope.startsWith('@') ? `${scope}/${name}` : scope))
        missing.push(`${path}: ${specifier}`)
    }
  }
  assert.deepEqual(missing, [])
  assert.ok(seen.size > 300, `${seen.size} files`)
})
