import type { Hands } from './driver.ts'
import { filesOver } from './files.ts'
import { jobsOver } from './jobs.ts'
import { connectOver } from './relay.ts'
import { openShell } from './shell.ts'
import { runOverWorkers, type Spawn } from './worker.ts'

/** All of a sandbox's hands from the one thing that every engine's exec gives: a process with three streams. */
export function handsOver(spawn: Spawn): Hands {
  const run = runOverWorkers(spawn)
  return {
    spawn,
    run,
    files: filesOver(run),
    jobs: jobsOver(spawn, run),
    shell: (options) => openShell(spawn, options),
    connect: (port) => connectOver(spawn, port),
  }
}
