import type { Hands, Layout } from './driver.ts'
import { filesOver } from './files.ts'
import { inside } from './inside.ts'
import { jobsOver } from './jobs.ts'
import { connectOver } from './relay.ts'
import { openShell } from './shell.ts'
import { runOverWorkers, type Spawn } from './worker.ts'

interface Options {
  /** Starts a process that shares the network of the sandbox and has the programs of `relay.ts`. `spawn` unless said. */
  beside?: Spawn
  /** That behind walls unless said. */
  layout?: Layout
}

/** All of a sandbox's hands from the one thing that every engine's exec gives: a process with three streams. */
export function handsOver(spawn: Spawn, { beside = spawn, layout = inside }: Options = {}): Hands {
  const run = runOverWorkers(spawn)
  const notes = `${layout.tmp}/.parley`
  return {
    layout,
    spawn,
    run,
    files: filesOver(run),
    jobs: jobsOver(spawn, run, `${notes}/jobs`),
    shell: (options) => openShell(spawn, options, notes),
    connect: (port) => connectOver(beside, port),
  }
}
