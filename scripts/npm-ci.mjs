/* The dependencies, exactly as the lockfile has them. Install scripts do not run. */
import { accessSync, constants, existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { SetupError, step } from './step.mjs'

/** @param {string} root */
export async function npmCi(root) {
  const env = { ...process.env, PATH: pathWithoutModules(process.env.PATH ?? '') }
  const npm = findNpm(env)
  const own = isWritable(env.npm_config_cache ?? join(homedir(), '.npm')) ? null : mkdtempSync(join(tmpdir(), 'npm-'))
  if (own !== null) env.npm_config_cache = own
  const args = [
    'ci',
    '--include=dev',
    '--include=optional',
    '--ignore-scripts',
    '--no-audit',
    '--no-fund',
    '--loglevel=error',
  ]
  try {
    await step('Installing dependencies (npm ci)', npm[0], [...npm.slice(1), ...args], { cwd: root, env })
  } finally {
    if (own !== null) rmSync(own, { recursive: true, force: true })
  }
}

/** npm removes node_modules first, so it must not run on the Node inside it. */
const pathWithoutModules = (path) =>
  path
    .split(delimiter)
    .filter((folder) => !/[\\/]node_modules[\\/]/.test(`${folder}/`) && !folder.includes('node-gyp-bin'))
    .join(delimiter)

function findNpm(env) {
  const found = env.PATH.split(delimiter).find((folder) => existsSync(join(folder, 'npm')))
  if (found !== undefined) return [join(found, 'npm')]
  const beside = join(dirname(process.execPath), 'npm')
  if (existsSync(beside)) return [beside]
  throw new SetupError('npm was not found. It comes with Node: https://nodejs.org/en/download')
}

function isWritable(folder) {
  try {
    mkdirSync(folder, { recursive: true })
    accessSync(folder, constants.W_OK)
    return true
  } catch {
    return false
  }
}
