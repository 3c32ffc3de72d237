import type { Observation } from '@parley/contract/events'
import type { Shell, ShellCommand, ShellResult } from '@parley/sandbox/driver'
import { z } from 'zod'
import { interrupt, keystrokes } from './keys.ts'
import { cutMiddle, failed, observed } from './observation.ts'
import { answerForJob, startJob } from './terminal-job.ts'
import { facts, outputLimit, readable, terminalObservation as kind } from './terminal-text.ts'
import type { Tool, ToolContext } from './tool.ts'

/** A command that prints nothing for so long is left to run, and the model may look at something else. */
const quietMs = 30_000
/** The same for one without a time of its own that keeps printing. */
const longestMs = 30 * 60_000
const mostMs = 6 * 3_600_000

const input = z.object({
  command: z.string().describe('Lines for bash. Empty: wait for more output.'),
  is_input: z.boolean().optional().describe('Type command; keys: C-c, C-d, ENTER, TAB, UP …'),
  timeout: z.number().positive().optional().describe('Seconds to wait; then it runs on.'),
  reset: z.boolean().optional().describe('New shell first.'),
  background: z.boolean().optional().describe('As a job beside the shell: servers, long builds.'),
  job: z.string().optional().describe('Read, type into or stop this job; all: list them.'),
  from: z.int().min(0).optional().describe('Byte of its output to read from.'),
})
type Input = z.infer<typeof input>

const shellWords = ['find', 'git', 'grep', 'ls', 'pwd', 'cat', 'rg']

export const terminal: Tool<typeof input> = {
  name: 'terminal',
  aliases: [
    'TerminalTool',
    'BashTool',
    'bash',
    'sh',
    'shell',
    'command',
    'execute',
    'execute_bash',
    'reset',
    ...shellWords,
  ],
  description:
    'Runs commands in a persistent bash: directory and variables stay. One that is silent for 30 s or past timeout runs on: wait with an empty command, type with is_input, stop with C-c. Long output is cut.',
  input,
  actionKind: 'TerminalAction',
  observationKind: kind,
  readOnly: false,
  resources: ({ job }) => [job === undefined ? 'terminal' : `job:${job}`],
  repair,
  async run(call, context) {
    const { job } = call
    if (job !== undefined) return answerForJob({ ...call, job }, context)
    try {
      return await answer(call, context)
    } catch (error) {
      // Whatever went wrong, the next command gets a shell that is known to work.
      const shell = context.memory.get('shell') as Shell | undefined
      context.memory.delete('shell')
      await shell?.close().catch(() => {})
      throw error
    }
  },
  async close(memory) {
    await (memory.get('shell') as Shell | undefined)?.close()
    memory.delete('shell')
  },
}

async function answer(call: Input, context: ToolContext): Promise<Observation> {
  const { command } = call
  if (call.reset === true) {
    if (call.is_input === true) return failed(kind, 'reset and is_input exclude each other.', facts(command, null))
    await terminal.close?.(context.memory)
    if (command === '') return observed(kind, 'A new shell is open.', facts(command, null))
  }
  const shell = await shellOf(context)
  if (call.background === true && command.trim() !== '') return startJob(command, shell, cwdOf(context), context)
  if (call.is_input === true) return typed(shell, call, context)
  if (command.trim() === '') {
    if (!shell.awaited) return failed(kind, 'No command is running.', facts(command, null))
    return described(call, await shell.wait(limits(call, context)), context)
  }
  if (shell.busy) {
    const text =
      'Not executed: the last command still runs. Wait with an empty command, type with is_input, stop it with is_input C-c, use background, or reset.'
    return failed(kind, text, facts(command, null))
  }
  const env = await context.secretsFor(command)
  return described(call, await shell.run({ command, env, ...limits(call, context) }), context)
}

/** Keys and lines go to the program's standard input; C-c interrupts it as a terminal would. */
async function typed(shell: Shell, call: Input, context: ToolContext): Promise<Observation> {
  if (!shell.busy) return failed(kind, 'Nothing is running that could take input.', facts(call.command, null))
  const keys = keystrokes(call.command)
  if (keys === interrupt) {
    const stop = AbortSignal.abort(new Error('C-c'))
    return described(call, await shell.wait({ ...limits(call, context), signal: stop }), context)
  }
  await shell.input(keys)
  return described(call, await shell.wait(limits(call, context)), context)
}

async function shellOf({ memory, hands, workingDir }: ToolContext): Promise<Shell> {
  const open = memory.get('shell') as Shell | undefined
  if (open !== undefined) return open
  const shell = await hands.shell({ cwd: workingDir })
  memory.set('shell', shell)
  return shell
}

const limits = ({ timeout }: Input, context: ToolContext): Omit<ShellCommand, 'command' | 'env'> => ({
  onOutput: context.onOutput,
  waitMs: Math.min(timeout === undefined ? longestMs : timeout * 1000, mostMs),
  quietMs: timeout === undefined ? quietMs : null,
  signal: context.signal,
})

const cwdOf = ({ memory, workingDir }: ToolContext): string => (memory.get('cwd') as string | undefined) ?? workingDir

function described(call: Input, result: ShellResult, { workingDir, memory }: ToolContext): Observation {
  const { log, end } = result
  memory.set('cwd', result.cwd)
  const text = readable(result.output)
  const cut = result.outputLength > outputLimit || text.length > outputLimit
  const where = `; all of it: bytes ${log.from + 1} to ${log.to} of ${log.path}`
  const place = result.cwd === workingDir ? '' : ` in ${result.cwd}`
  const output = cutMiddle(text, outputLimit, where).trimEnd()
  const status = `[${statusOf(call, result)}${place}]`
  return observed(kind, output === '' ? status : `${output}\n${status}`, {
    ...facts(call.command, result),
    timeout: end === 'running' && call.timeout !== undefined,
    full_output_save_dir: cut ? log.path : null,
  })
}

function statusOf({ timeout }: Input, { end, exitCode }: ShellResult): string {
  if (end === 'exited') return `exit code ${exitCode}`
  if (end === 'running') return `still running${timeout === undefined ? '' : ` after ${timeout} s`}; ${advice}`
  return end === 'interrupted' ? 'interrupted' : 'the shell ended; a new one is open'
}

const advice = 'wait with an empty command, type with is_input, or stop it with C-c'

/** `git {"command": "status"}` and its like: models call shell words as if they were tools. */
function repair(given: Record<string, unknown>, calledAs: string): Record<string, unknown> {
  if (calledAs === 'reset' && given['command'] === undefined) return { ...given, command: '', reset: true }
  if (typeof given['cmd'] === 'string' && given['command'] === undefined) return { ...given, command: given['cmd'] }
  if (!shellWords.includes(calledAs)) return given
  const { command, ...rest } = given
  if (typeof command === 'string')
    return command.startsWith(calledAs) ? given : { ...rest, command: `${calledAs} ${command}` }
  const words = Object.values(rest)
    .flat()
    .filter((word) => typeof word === 'string')
  return { command: [calledAs, ...words.map(quoted)].join(' ') }
}

const quoted = (word: string): string => (/^[\w./:=@-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`)
