import { randomUUID } from 'node:crypto'
import type { Observation } from '@parley/contract/events'
import type { Job, JobOutput, Shell } from '@parley/sandbox/driver'
import { quote } from '@parley/sandbox/quote'
import { interrupt, keystrokes } from './keys.ts'
import { failed, observed } from './observation.ts'
import { facts, outputLimit, readable, terminalObservation as kind } from './terminal-text.ts'
import type { ToolContext } from './tool.ts'

/* Commands that run beside the shell. They are found again by their number, by any worker, as long as the sandbox lives. */

export interface JobCall {
  job: string
  command: string
  is_input?: boolean | undefined
  from?: number | undefined
  timeout?: number | undefined
}

/** How long a read waits for something new, unless the call says. */
const waitMs = 10_000
const longestMs = 600_000
const variablesMs = 5_000

/** In the shell's folder and with its variables, where it is free to tell them. */
export async function startJob(command: string, shell: Shell, cwd: string, context: ToolContext): Promise<Observation> {
  const { jobs, layout } = context.hands
  const env = await context.secretsFor(command)
  const told = shell.busy ? { cwd } : await variablesOf(shell, `${layout.tmp}/.parley`)
  const id = await jobs.start({ command, env, ...told })
  const text = `[job ${id} runs in the background; read it with job ${id}]`
  return observed(kind, text, { ...facts(command, null), job: id })
}

async function variablesOf(shell: Shell, folder: string): Promise<{ cwd: string; variables?: string }> {
  const variables = `${folder}/variables-${randomUUID()}`
  const write = `mkdir -p ${quote(folder)} && (umask 077; [ -z "$BASH_VERSION" ] || set -o posix; export -p >${quote(variables)})`
  const { cwd, exitCode } = await shell.run({ command: write, timeoutMs: variablesMs })
  return exitCode === 0 ? { cwd, variables } : { cwd }
}

/** Reads, types into or stops one job, or lists all. */
export async function answerForJob(call: JobCall, context: ToolContext): Promise<Observation> {
  const { jobs } = context.hands
  if (/^(all|list)$/i.test(call.job)) return listed(await jobs.list(), call)
  const refused = await act(call, context)
  if (refused !== null) return failed(kind, refused, facts(call.command, null))
  const offsets = offsetsOf(context.memory)
  const from = call.from ?? offsets.get(call.job)
  const patience = Math.min(call.timeout === undefined ? waitMs : call.timeout * 1000, longestMs)
  const options = { maxBytes: outputLimit, waitMs: patience, signal: context.signal }
  const output = await jobs.read(call.job, from === undefined ? options : { ...options, from })
  if (output === null) return failed(kind, missing(call.job), facts(call.command, null))
  offsets.set(call.job, output.from + output.bytes.length)
  return told(call, output)
}

/** What the call asks for beyond reading; the reason when that cannot be done. */
async function act({ job, command, is_input }: JobCall, { hands }: ToolContext): Promise<string | null> {
  if (is_input !== true)
    return command.trim() === '' ? null : 'With job, command is empty, or is_input says to type it into the job.'
  const keys = keystrokes(command)
  if (keys === interrupt) return (await hands.jobs.stop(job)) ? null : missing(job)
  return (await hands.jobs.write(job, keys)) ? null : `Job ${job} does not run, so nothing can be typed into it.`
}

const missing = (job: string): string => `There is no job ${job}. Job all lists them.`

function told(call: JobCall, output: JobOutput): Observation {
  const end = output.from + output.bytes.length
  const left = output.size > end ? ` of ${output.size}; read on with from ${end}` : ''
  const status = `[job ${call.job} ${statusOf(output)}; bytes ${output.from} to ${end}${left}]`
  const text = readable(output.bytes.toString('utf8')).trimEnd()
  const known = { ...facts(call.command, null, exitCodeOf(output)), job: call.job, from: output.from, to: end }
  return observed(kind, text === '' ? status : `${text}\n${status}`, known)
}

function listed(jobs: readonly Job[], call: JobCall): Observation {
  const lines = jobs.map((job) => `job ${job.id} ${statusOf(job)}, ${job.size} bytes of output: ${job.command}`)
  return observed(kind, lines.length === 0 ? 'There are no jobs.' : lines.join('\n'), facts(call.command, null, 0))
}

const exitCodeOf = ({ running, code }: Pick<Job, 'running' | 'code'>): number | null => (running ? null : (code ?? -1))

function statusOf({ running, code }: Pick<Job, 'running' | 'code'>): string {
  if (running) return 'is running'
  return code === null ? 'was cut off' : `ended with exit code ${code}`
}

/** Where the last read of each job ended. */
function offsetsOf(memory: ToolContext['memory']): Map<string, number> {
  const known = memory.get('offsets') as Map<string, number> | undefined
  if (known !== undefined) return known
  const fresh = new Map<string, number>()
  memory.set('offsets', fresh)
  return fresh
}
