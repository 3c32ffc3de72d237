import { lockDataDir } from './lock.ts'

/* A server for the tests to kill: it takes the data directory of argv[2], says so, and stays. */

await lockDataDir(process.argv[2] ?? '')
process.stdout.write('locked\n')
setInterval(() => {}, 1_000)
