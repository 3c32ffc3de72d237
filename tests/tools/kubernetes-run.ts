/*
 * `npm run test:kubernetes`: builds what a cluster needs unless it is there, starts one, runs the tests that want one
 * against it, and stops it. Built programs are kept outside of the repository, in `KUBERNETES_TEST_DIR`.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { clusterLacks, startCluster } from './kubernetes-cluster.ts'

const place = process.env['KUBERNETES_TEST_DIR'] ?? join(homedir(), '.cache', 'parley', 'kubernetes')
const at = (path: string) => fileURLToPath(new URL(path, import.meta.url))
const say = (line: string) => void process.stdout.write(`— ${line}\n`)

async function run(program: string, args: readonly string[], env: NodeJS.ProcessEnv = process.env): Promise<number> {
  const child = spawn(program, args, { stdio: 'inherit', env })
  const [code] = (await once(child, 'exit')) as [number | null]
  return code ?? 1
}

async function main(words: readonly string[]): Promise<number> {
  const bin = join(place, 'bin')
  if (process.platform !== 'linux' || process.getuid?.() !== 0) {
    say('skipped: a cluster can be started by root of a Linux only')
    return 0
  }
  if ((await clusterLacks(bin)) !== undefined) {
    say(`Building Kubernetes into ${place}, which takes some minutes`)
    const code = await run('bash', [at('kubernetes-build.sh'), place])
    if (code !== 0) return code
  }
  say('Starting a cluster')
  const { stop, ...cluster } = await startCluster(bin)
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => void stop().finally(() => process.exit(1)))
  try {
    const env = { ...process.env, TEST_KUBERNETES: JSON.stringify(cluster) }
    const tests = words.length === 0 ? ['src/kubernetes/', 'journeys/kubernetes'] : words
    return await run(process.execPath, [at('../../scripts/run-tests.mjs'), ...tests], env)
  } finally {
    say('Stopping the cluster')
    await stop()
  }
}

process.exitCode = await main(process.argv.slice(2))
