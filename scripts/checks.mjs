/* What can be said about the code without running it: its form, its lint, its types, its walls. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { runIn } from './run-in.mjs'

/**
 * Runs every check to its end with its output on ours.
 * @param {string} node
 * @param {string} root
 * @returns {Promise<{ passed: number, failed: number }>}
 */
export async function runChecks(node, root) {
  const bin = (name, file) => join(root, 'node_modules', name, 'bin', file)
  const checks = [
    ['format', [bin('oxfmt', 'oxfmt'), '--check']],
    ['lint', [bin('oxlint', 'oxlint'), '--deny-warnings']],
    ['types', [bin('ts7', 'tsc'), '-p', root]],
    ...(existsSync(join(root, 'web', 'tsconfig.json'))
      ? [['types of web', [bin('ts7', 'tsc'), '-p', join(root, 'web')]]]
      : []),
    ['rooms', [join(root, 'scripts', 'rooms.ts')]],
    ['the checked-in contract', [join(root, 'scripts', 'openapi.ts'), '--check']],
  ]
  const counts = { passed: 0, failed: 0 }
  for (const [name, args] of checks) {
    process.stdout.write(`\n— ${name}\n`)
    const code = await runIn(root, node, args, { timeoutMs: 300_000 })
    process.stdout.write(code === 0 ? '  ok\n' : `  FAILED: ${name} (${code})\n`)
    counts[code === 0 ? 'passed' : 'failed']++
  }
  return counts
}
