import { systemClock } from './clock.ts'
import type { Connection } from './connection.ts'
import { openDatabase } from './database.ts'
import { openJobs } from './jobs.ts'
import { openWake } from './wake.ts'

/* A replica for the tests to kill: it begins every job of the kind `work`, says so, and never ends it. */

const connection = JSON.parse(process.argv[2] ?? '') as Connection // as the test wrote it
const database = openDatabase({ connection, max: 4, applicationName: 'killed' })
const jobs = openJobs({ database, wake: openWake(database), clock: systemClock, replica: 'killed', log: () => {} })
jobs.register('work', {
  run: (job) => {
    process.stdout.write(`${job.key}\n`)
    return new Promise(() => {})
  },
  attempts: 3,
  backoffMs: 10,
  concurrency: 4,
})
jobs.start()
