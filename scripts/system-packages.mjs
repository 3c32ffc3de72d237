/* Programs that npm cannot bring. On Debian and Ubuntu, root gets them installed; everybody else the command to run. */
import { accessSync, constants, readFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { SetupError, step } from './step.mjs'

/** By package: any of these programs will do. */
const packages = {
  bubblewrap: ['bwrap'],
  socat: ['socat'],
  git: ['git'],
  ripgrep: ['rg'],
  chromium: ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'],
  'docker.io': ['dockerd'],
  'busybox-static': ['busybox'],
}

/** What a server needs here, or can do without where isolation is not demanded. */
export function serverNeeds(env = process.env) {
  const programs = serverPrograms(env)
  const isDemanded = !['on', '1'].includes(env.PARLEY_SANDBOX_DANGEROUSLY_UNISOLATED ?? '')
  return isDemanded ? { programs } : { programs: [], extras: programs }
}

/** Containers bring their own programs, but for the one that carries their way out; pods bring all. */
function serverPrograms(env) {
  if (env.PARLEY_ROLE === 'api' || env.PARLEY_SANDBOX === 'kubernetes') return []
  return env.PARLEY_SANDBOX === 'docker' ? ['socat'] : ['bubblewrap', 'socat', 'git', 'ripgrep']
}

export const testPrograms = ['bubblewrap', 'socat', 'git', 'ripgrep', 'chromium']

/** A container engine for its driver's tests: where it cannot be installed, they are skipped. */
const testExtras = ['docker.io', 'busybox-static']

/** @param {readonly string[]} names keys of `packages` */
export async function installMissing(names) {
  const missing = names.filter((name) => !isFound(name))
  if (missing.length === 0) return
  if (!isDebian() || process.getuid?.() !== 0) throw new SetupError(advice(missing))
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  const quiet = ['-q', '-o', 'Dpkg::Use-Pty=0', '-o', 'DPkg::Lock::Timeout=600']
  await step('Reading the package lists (apt-get update)', 'apt-get', [...quiet, 'update'], { env })
  const install = [...quiet, 'install', '-y', '--no-install-recommends', ...missing]
  await step(`Installing ${missing.join(', ')} (apt-get install)`, 'apt-get', install, { env })
  const still = missing.filter((name) => !isFound(name))
  if (still.length > 0) throw new SetupError(`Installed, but not found in PATH: ${still.join(', ')}`)
}

/** For tests: nobody is told of what cannot be installed. */
export async function installTestExtras() {
  if (isDebian() && process.getuid?.() === 0) await installExtras(testExtras)
}

/** As `installMissing`, for what can be done without. */
export async function installExtras(names) {
  await installMissing(names).catch((error) => {
    if (!(error instanceof SetupError)) throw error
    process.stdout.write(`${error.message}\nGoing on without.\n`)
  })
}

function isFound(name) {
  const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/bin', '/usr/local/bin', '/bin', '/usr/sbin']
  return packages[name].some((program) => folders.some((folder) => isExecutable(join(folder, program))))
}

function isExecutable(path) {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

function isDebian() {
  try {
    return /^ID(_LIKE)?=.*\b(debian|ubuntu)\b/m.test(readFileSync('/etc/os-release', 'utf8'))
  } catch {
    return false
  }
}

function advice(missing) {
  const list = missing.join(' ')
  if (isDebian())
    return `Missing: ${list}. Run this, then start again:\n\n  sudo apt-get update && sudo apt-get install -y --no-install-recommends ${list}\n`
  const programs = missing.map((name) => packages[name][0]).join(', ')
  const other =
    process.platform === 'linux' ? '' : 'The default sandbox needs Linux; elsewhere use PARLEY_SANDBOX=docker.\n'
  return `Missing: ${list} (the programs ${programs}). Install them with your system's package manager, then start again.\n${other}`
}
