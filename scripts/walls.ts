import { posix } from 'node:path'
import type { Import, Source } from './sources.ts'

/*
 * The walls of the house as tables, and what breaks them. What ships is held to all of them; tests, fixtures and the other
 * tools of a test may reach anywhere, but have names, sizes and no circles like the rest.
 */

export interface Breach {
  path: string
  line: number
  /** `floor`, `slice`, `word`, `library`, `circle`, `size`, `name` …; `look` is advice and does not fail. */
  wall: string
  says: string
}

/** Who may import whom. A package with a path behind it: only that file of it. */
const floors: Record<string, readonly string[]> = {
  contract: [],
  wire: ['contract'],
  store: ['contract', 'wire'],
  sandbox: ['contract', 'wire'],
  forge: ['contract', 'wire'],
  agent: ['contract', 'sandbox', 'store/clock'],
  server: ['contract', 'wire', 'store', 'sandbox', 'forge', 'agent'],
  client: ['contract', 'wire'],
  web: ['contract', 'client'],
}

/** Libraries that only some rooms may know: the pattern of the import, and where it may stand. */
const libraries: readonly { library: RegExp; rooms: RegExp }[] = [
  { library: /^(fastify$|fastify\/|@fastify\/)/, rooms: /^wire\// },
  { library: /^(kysely|pg)($|\/)/, rooms: /^(store\/|server\/src\/(migrations\/|.*\b(store|table)\.ts$))/ },
  { library: /^(@ai-sdk\/|ai$|@pydantic\/)/, rooms: /^agent\/src\/model\// },
  { library: /^(@octokit\/|gitea-js$)/, rooms: /^forge\// },
  { library: /^zod($|\/)/, rooms: /./ },
  { library: /^[^.@]|^@(?!parley\/)/, rooms: /^(?!contract\/)/ },
]

/** In this order: an earlier slice knows no later one, and others only by their `service.ts`. */
const slices = [
  'access',
  'audit',
  'users',
  'secrets',
  'settings',
  'git',
  'models',
  'sandboxes',
  'conversations',
  'events',
  'processors',
  'webhooks',
  'shared',
  'v0',
  'usage',
  'health',
  'docs',
]
/** Pure files of a slice that every room of the server may use. */
const shared = ['key-format', 'cookie', 'tries'].map((file) => `server/src/access/${file}.ts`)
/** The rooms that put the slices together. */
const wiring = /^server\/src\/(server|main|testing)(\.ts$|\/)/

/** Words that a room does not say in code, and the files of it that may. */
const foreign: readonly { rooms: RegExp; words: readonly string[]; but?: RegExp }[] = [
  {
    rooms: /^(wire|store)\//,
    words: ['conversation', 'conversations', 'processor', 'processors', 'repository', 'llm'],
  },
  { rooms: /^sandbox\//, words: ['owner', 'conversation', 'conversations', 'llm'] },
  { rooms: /^agent\//, words: ['owner', 'fastify', 'kysely', 'sql'] },
  { rooms: /^web\//, words: ['fetch', 'kysely', 'fastify'], but: /^web\/src\/api\.ts$/ },
]

const environmentReaders =
  /^(server\/src\/(config|main)\.ts|client\/src\/cli\/(environment|main)\.ts|(scripts|bench|tests)\/)/
const sqlRooms = /^(store\/|server\/src\/(migrations\/|.*\b(store|table)\.ts$))/
const forbiddenNames = ['util', 'utils', 'helper', 'helpers', 'common', 'manager', 'types', 'misc', 'index']
/** One function that is a list of consts, in the order of the floors. */
const wiringList = 'server/src/server.ts'
/** Generated files and pure data may be as long as they are. */
const data: readonly string[] = []

const isTest = (path: string): boolean =>
  /\.(test|fixture)\.tsx?$|(^|\/)(testing|conformance)(\.ts$|\/)|^(tests|bench|scripts)\//.test(path)

/** Everything that breaks a wall, in order of path and line. */
export function breaches(sources: readonly Source[]): Breach[] {
  const paths = new Set(sources.map((source) => source.path))
  const each = sources.flatMap((source) => [
    ...form(source, paths),
    ...size(source),
    ...(isTest(source.path) ? [] : [...imports(source), ...words(source)]),
  ])
  return [...each, ...circles(sources, paths)].sort((a, b) => a.path.localeCompare(b.path) || a.line - b.line)
}

const breach = (source: Source, line: number, wall: string, says: string): Breach => ({
  path: source.path,
  line,
  wall,
  says,
})

function form(source: Source, paths: ReadonlySet<string>): Breach[] {
  const stem = posix.basename(source.path).replace(/(\.(test|fixture|config))?\.tsx?$/, '')
  const folder = posix.basename(posix.dirname(source.path))
  const found: Breach[] = []
  const isConfig = source.path.endsWith('.config.ts')
  if (!isConfig) for (const line of source.defaultExports) found.push(breach(source, line, 'export', 'default export'))
  for (const line of source.starExports) found.push(breach(source, line, 'export', 'export * (a barrel)'))
  if (source.onlyHandsOn) found.push(breach(source, 1, 'export', 'a barrel: it only hands on what others export'))
  if (forbiddenNames.includes(stem))
    found.push(breach(source, 1, 'name', `a file is not called ${stem}: name what it is`))
  if (source.path.endsWith('.ts') && !/^[a-z0-9]+(-[a-z0-9]+)*$/.test(stem))
    found.push(breach(source, 1, 'name', 'file names are kebab-case'))
  const noun = folder.replace(/(xe|se)?s$/, (end) => end.slice(0, -1).replace('xe', 'x'))
  // A noun of the contract keeps its whole name on every floor.
  const isNoun = paths.has(`contract/src/${stem}.ts`)
  if (folder !== 'src' && !isNoun && (stem.startsWith(`${folder}-`) || stem.startsWith(`${noun}-`)))
    found.push(breach(source, 1, 'name', `the file repeats its folder ${folder}/`))
  return found
}

function size(source: Source): Breach[] {
  const found: Breach[] = []
  if (!data.includes(source.path)) {
    if (source.lines > 400) found.push(breach(source, 1, 'size', `${source.lines} lines; never past 400`))
    else if (source.lines > 250) found.push(breach(source, 1, 'look', `${source.lines} lines; look again at 250`))
  }
  for (const { name, line, ownLines } of source.functions)
    if (ownLines > 40 && source.path !== wiringList)
      found.push(breach(source, line, 'size', `${name} has ${ownLines} lines; at most 40`))
  return found
}

function words(source: Source): Breach[] {
  const { path } = source
  const found: Breach[] = []
  for (const { rooms, words: said, but } of foreign) {
    if (!rooms.test(path) || but?.test(path)) continue
    for (const word of said) {
      const line = source.words.get(word)
      if (line !== undefined)
        found.push(breach(source, line, 'word', `"${word}" is a foreign word in ${roomOf(path)}/`))
    }
  }
  if (!environmentReaders.test(path))
    for (const line of source.environmentReads) found.push(breach(source, line, 'environment', 'reads process.env'))
  if (!sqlRooms.test(path))
    for (const line of source.sql) found.push(breach(source, line, 'sql', 'SQL outside a store.ts'))
  if (/^server\/src\/.*\broutes\.ts$/.test(path))
    for (const line of source.branches)
      found.push(breach(source, line, 'routes', 'a route decides nothing: no branch here'))
  return found
}

const roomOf = (path: string): string => path.split('/')[0] ?? ''

function imports(source: Source): Breach[] {
  return source.imports.flatMap((said) => {
    const target = resolved(source.path, said.specifier)
    const why =
      floor(source, said) ?? library(source, said) ?? (target === undefined ? undefined : slice(source, target))
    return why === undefined ? [] : [breach(source, said.line, why[0], `imports ${said.specifier}: ${why[1]}`)]
  })
}

type Why = [wall: string, says: string]

function floor(source: Source, { specifier }: Import): Why | undefined {
  const room = roomOf(source.path)
  const below = floors[room]
  const target = /^@parley\/([^/]+)\/(.+)$/.exec(specifier)
  if (target !== null && below !== undefined) {
    const [, other = '', file = ''] = target
    if (other === room) return ['floor', 'within a package imports are relative']
    if (!below.includes(other) && !below.includes(`${other}/${file}`))
      return ['floor', `${room} may import ${below.join(', ') || 'nothing of ours'}`]
  }
  const path = resolved(source.path, specifier)
  return specifier.startsWith('.') && path !== undefined && roomOf(path) !== room
    ? ['floor', 'another package is imported by its name']
    : undefined
}

function library(source: Source, { specifier }: Import): Why | undefined {
  if (specifier.startsWith('.') || specifier.startsWith('@parley/')) return undefined
  const rule = libraries.find((row) => row.library.test(specifier))
  return rule === undefined || rule.rooms.test(source.path) ? undefined : ['library', `foreign in ${source.path}`]
}

function slice(source: Source, target: string): Why | undefined {
  const own = sliceOf(source.path)
  const other = sliceOf(target)
  if (own !== undefined && wiring.test(target)) return ['slice', 'a slice does not know who wires it']
  if (other === undefined || other === own || wiring.test(source.path) || shared.includes(target)) return undefined
  if (own === undefined && source.path.startsWith('server/src/'))
    return source.path.split('/').length === 3 ? ['slice', 'only server.ts wires slices'] : undefined
  if (own === undefined) return undefined
  if (slices.indexOf(other) > slices.indexOf(own)) return ['slice', `${own} comes before ${other} and may not know it`]
  return posix.basename(target) === 'service.ts' ? undefined : ['slice', `${other} is reached by its service.ts only`]
}

function sliceOf(path: string): string | undefined {
  const name = /^server\/src\/([^/]+)\//.exec(path)?.[1]
  return name !== undefined && slices.includes(name) ? name : undefined
}

/** The file an import of ours means, from the root; undefined for libraries. */
function resolved(from: string, specifier: string): string | undefined {
  if (specifier.startsWith('.')) return posix.join(posix.dirname(from), specifier)
  const ours = /^@parley\/([^/]+)\/(.+)$/.exec(specifier)
  return ours === null ? undefined : `${ours[1]}/src/${ours[2]}.ts`
}

/** Every circle of imports, types included, once: depth first, a circle is an edge back into the path walked. */
function circles(sources: readonly Source[], paths: ReadonlySet<string>): Breach[] {
  const byPath = new Map(sources.map((source) => [source.path, source]))
  const found: Breach[] = []
  const done = new Set<string>()
  const walk = (path: string, trail: readonly string[]): void => {
    const source = byPath.get(path)
    if (source === undefined || done.has(path)) return
    for (const { specifier, line } of source.imports) {
      const target = resolved(path, specifier)
      if (target === undefined || !paths.has(target)) continue
      const at = target === path ? trail.length : trail.indexOf(target)
      if (at >= 0) found.push(breach(source, line, 'circle', [...trail.slice(at), path, target].join(' → ')))
      else walk(target, [...trail, path])
    }
    done.add(path)
  }
  for (const { path } of sources) walk(path, [])
  return found
}
