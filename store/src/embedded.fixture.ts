import { startPostgres } from './embedded.ts'

/* A process for the tests to kill: it starts the database of argv[2] with its socket in argv[3], says its pid, and stays. */

const [, , dataDir = '', runtimeDir = '', how] = process.argv
const postgres = await startPostgres({ dataDir, runtimeDir, log: () => {} })
process.stdout.write(`${postgres.pid}\n`)
if (how === 'stop') await postgres.stop()
else setInterval(() => {}, 1_000)
