/*
 * Runs every check and every test and prints `N passed, N failed` as the last line. Words as arguments: only the test files
 * whose path holds one of them.
 */
import { randomUUID } from 'node:crypto'
import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runChecks } from './checks.mjs'
import { endLeftovers, markName } from './leftovers.mjs'
import { runIn } from './run-in.mjs'
import { root } from './setup.mjs'

/** In minutes: what one test may take, one file, and the whole group. */
const groups = [
  {
    name: 'unit tests',
    files: ['*/src/**/*.test.ts', 'scripts/*.test.ts', 'tests/tools/**/*.test.ts'],
    test: 1,
    file: 5,
    all: 20,
    atOnce: 2,
  },
  { name: 'promises', files: ['tests/promises/**/*.test.ts'], test: 3, file: 8, all: 20, atOnce: 2 },
  { name: 'journeys', files: ['tests/journeys/**/*.test.ts'], test: 5, file: 15, all: 30, atOnce: 2 },
  { name: 'browser', files: ['tests/browser/**/*.test.ts'], test: 3, file: 8, all: 15, atOnce: 2 },
]

const words = process.argv.slice(2)
const mark = randomUUID()
const reports = mkdtempSync(join(tmpdir(), 'parley-test-'))
process.once('exit', () => rmSync(reports, { recursive: true, force: true }))

const sum = { passed: 0, failed: 0, skipped: 0 }
if (words.length === 0) add(await runChecks(process.execPath, root))
for (const group of groups) add(await runGroup(group))
add(await lookForLeftovers())
if (sum.passed + sum.failed === 0) add(nothingFound())

if (sum.skipped > 0) process.stdout.write(`\n${sum.skipped} skipped: this machine or user cannot run them\n`)
process.stdout.write(`\n${sum.passed} passed, ${sum.failed} failed\n`)
process.exitCode = sum.failed === 0 ? 0 : 1

async function runGroup({ name, files, test, file, all, atOnce }) {
  const chosen = globSync(files, { cwd: root, exclude: ['node_modules/**'] })
    .filter((file) => words.length === 0 || words.some((word) => file.includes(word)))
    .sort()
  if (chosen.length === 0) return {}
  process.stdout.write(`\n— ${name}: ${chosen.length} files\n`)
  const report = join(reports, `${randomUUID()}.json`)
  const args = [
    '--import',
    new URL('file-deadline.mjs', import.meta.url).href,
    '--test',
    `--test-concurrency=${atOnce}`,
    `--test-timeout=${test * 60_000}`,
    '--test-reporter=spec',
    '--test-reporter-destination=stdout',
    `--test-reporter=${new URL('counts.mjs', import.meta.url).href}`,
    `--test-reporter-destination=${report}`,
    ...chosen,
  ]
  const env = { ...process.env, [markName]: mark, TEST_FILE_MS: String(file * 60_000) }
  const code = await runIn(root, process.execPath, args, { env, timeoutMs: all * 60_000 })
  const counts = readCounts(report)
  if (code === 0 || counts.failed > 0) return counts
  process.stdout.write(`  FAILED: ${name} ended with ${code}\n`)
  return { ...counts, failed: 1 }
}

/** None when the runner died before its end. */
function readCounts(report) {
  try {
    return JSON.parse(readFileSync(report, 'utf8'))
  } catch {
    return { passed: 0, failed: 0, skipped: 0 }
  }
}

async function lookForLeftovers() {
  const found = await endLeftovers(mark)
  if (found.length === 0) return {}
  process.stdout.write(`\n— left running by tests, now ended:\n${found.map((line) => `  ${line}\n`).join('')}`)
  return { failed: 1 }
}

function nothingFound() {
  process.stdout.write(`No test file has ${words.join(' or ')} in its path.\n`)
  return { failed: 1 }
}

function add({ passed = 0, failed = 0, skipped = 0 }) {
  sum.passed += passed
  sum.failed += failed
  sum.skipped += skipped
}
