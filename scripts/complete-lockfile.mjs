/*
 * npm leaves packages for other systems out of the lockfile when the registry did not offer them at the time, and `npm ci`
 * then refuses that lockfile. This adds them by version, with the system that their name says; run it after adding a
 * package that has a build for each system, then `npm install --package-lock-only`.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'

/**
 * @param {Record<string, Record<string, any>>} packages of a package-lock.json
 * @returns {Record<string, object>} the entries that are missing, by path
 */
export function missingEntries(packages) {
  const found = {}
  for (const [path, entry] of Object.entries(packages))
    for (const [name, version] of Object.entries(entry.optionalDependencies ?? {}))
      if (!isResolved(packages, path, name)) found[`node_modules/${name}`] = entryFor(name, version, entry.dev)
  return found
}

/** As Node looks a name up: in the node_modules of the package itself, then of each folder above. */
function isResolved(packages, path, name) {
  const places = path.split(/(?=\/node_modules\/)|(?<=^)(?=node_modules\/)/)
  return places
    .map((_, depth) => places.slice(0, depth + 1).join(''))
    .concat('')
    .some((folder) => packages[`${folder === '' ? '' : `${folder}/`}node_modules/${name}`] !== undefined)
}

function entryFor(name, version, dev) {
  const [, system, cpu] = /[-/](android|darwin|freebsd|linux|openharmony|win32)-([a-z0-9]+)/.exec(name) ?? []
  return {
    version,
    ...(system === undefined ? { cpu: ['wasm32'] } : { cpu: [cpu], os: [system] }),
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
