/* The browser page, made from its sources when it is missing or older than they are. */
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { exclusively } from './exclusively.mjs'
import { step } from './step.mjs'

/** What goes into the page, from the root. */
const sources = [
  'web/src',
  'web/public',
  'web/index.html',
  'web/vite.config.ts',
  'web/wordless.ts',
  'web/package.json',
  'client/src',
  'contract/src',
  'wire/src',
  'package-lock.json',
]

/**
 * Makes `web/dist` unless it is newer than everything it is made from.
 * @param {string} node the program that runs the build
 * @param {string} root
 */
export async function buildPage(node, root) {
  if (isFresh(root)) return
  await exclusively(join(root, '.setup.lock'), 'another set-up of this folder', async () => {
    if (!isFresh(root)) await build(node, root)
  })
}

/** Built aside and moved into place, so that what is served is never half a page. */
async function build(node, root) {
  const [built, draft] = [join(root, 'web', 'dist'), join(root, 'node_modules', '.parley-page')]
  const vite = join(root, 'node_modules', 'vite', 'bin', 'vite.js')
  const args = [vite, 'build', join(root, 'web'), '--outDir', draft, '--emptyOutDir', '--logLevel', 'warn']
  await step('Building the page', node, args, { cwd: root, timeoutMs: 300_000 })
  compress(draft)
  rmSync(built, { recursive: true, force: true })
  renameSync(draft, built)
}

/** Beside each text of the page the same compressed, once, so that the server has only to hand it over. */
function compress(folder) {
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    if (!/\.(js|css|html|svg)$/.test(name)) continue
    const text = readFileSync(join(folder, name))
    writeFileSync(join(folder, `${name}.br`), brotliCompressSync(text))
    writeFileSync(join(folder, `${name}.gz`), gzipSync(text))
  }
}

function isFresh(root) {
  const made = join(root, 'web', 'dist', 'index.html')
  if (!existsSync(made)) return false
  const { mtimeMs } = statSync(made)
  return sources.every((path) => newest(join(root, path)) <= mtimeMs)
}

/** The latest change of a file, or of anything in a folder and of the folder itself. */
function newest(path) {
  const entry = statSync(path)
  if (!entry.isDirectory()) return entry.mtimeMs
  return Math.max(entry.mtimeMs, ...readdirSync(path).map((name) => newest(join(path, name))))
}
