/*
 * npm leaves packages for other systems out of the lockfile when the registry did not offer them at the time, and `npm ci`
 * then refuses that lockfile. This adds them by version, with the system that their name says; run it after adding a
 * package that has a build for each system, then `npm install --package-lock-only`.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'

export interface Entry {
  version?: string
  cpu?: string[]
  os?: string[]
  dev?: boolean
  optional?: boolean
  optionalDependencies?: Record<string, string>
}
type Entries = Record<string, Entry>

/** The entries that a lockfile's `packages` lack, by path. */
export function missingEntries(packages: Entries): Entries {
  const found: Entries = {}
  for (const [path, entry] of Object.entries(packages))
    for (const [name, version] of Object.entries(entry.optionalDependencies ?? {}))
      if (!isResolved(packages, path, name)) found[`node_modules/${name}`] = entryFor(name, version, entry.dev)
  return found
}

/** As Node looks a name up: in the node_modules of the package itself, then of each folder above. */
function isResolved(packages: Entries, path: string, name: string): boolean {
  const places = path.split(/(?=\/node_modules\/)|(?<=^)(?=node_modules\/)/)
  return places
    .map((_, depth) => places.slice(0, depth + 1).join(''))
    .concat('')
    .some((folder) => packages[`${folder === '' ? '' : `${folder}/`}node_modules/${name}`] !== undefined)
}

function entryFor(name: string, version: string, dev: boolean | undefined): Entry {
  const [, system = '', cpu = 'wasm32'] =
    /[-/](android|darwin|freebsd|linux|openharmony|win32)-([a-z0-9]+)/.exec(name) ?? []
  return {
    version,
    cpu: [cpu],
    ...(system === '' ? {} : { os: [system] }),
    ...(dev === true ? { dev } : {}),
    optional: true,
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const path = new URL('../package-lock.json', import.meta.url)
  const lockfile = JSON.parse(readFileSync(path, 'utf8'))
  const missing = missingEntries(lockfile.packages)
  Object.assign(lockfile.packages, missing)
  writeFileSync(path, `${JSON.stringify(lockfile, null, 2)}\n`)
  process.stdout.write(`${Object.keys(missing).length} entries added\n`)
}
