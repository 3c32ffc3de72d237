import type { Hands } from './driver.ts'
import { filesOver } from './files.ts'
import { jobsOver } from './jobs.ts'
import { connectOver } from './relay.ts'
import { openShell } from './shell.ts'
import { runOverWorkers, type Spawn } from './worker.ts'

/**
 * All of a sandbox's hands from the one thing that every engine's exec gives: a process with three streams.
 * @param beside Starts a process that shares the network of the sandbox and has the programs of `relay.ts`.
 */
export function handsOver(spawn: Spawn, beside: Spawn = spawn): Hands {
  const run = runOverWorkers(spawn)
  return {
    spawn,
    run,
    files: filesOver(run),
    jobs: jobsOver(spawn, run),
    shell: (options) => openShell(spawn, options),
    connect: (port) => connectOver(beside, port),
  }
}
