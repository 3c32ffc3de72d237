import { stripVTControlCharacters } from 'node:util'
import type { ShellResult } from '@parley/sandbox/driver'

/* How the terminal's results look, of commands of the shell and of jobs alike. */

export const terminalObservation = 'TerminalObservation'
export const outputLimit = 30_000

/** Without colours, and of a line that was drawn over and over only what stood there last. */
export const readable = (output: string): string =>
  stripVTControlCharacters(output)
    .replaceAll('\r\n', '\n')
    .replaceAll(/[^\n]*\r/g, '')

/** `exit_code` null: it goes on, or nothing was executed; −1: it was ended, or nobody knows how it ended. */
export const facts = (command: string, result: ShellResult | null, exitCode: number | null = codeOf(result)) => ({
  command,
  exit_code: exitCode,
  timeout: false,
  metadata: {
    exit_code: exitCode ?? -1,
    pid: -1,
    username: null,
    hostname: null,
    working_dir: result?.cwd ?? null,
    py_interpreter_path: null,
    prefix: '',
    suffix: '',
  },
  full_output_save_dir: null,
})

const codeOf = (result: ShellResult | null): number | null =>
  result?.exitCode ?? (result === null || result.end === 'running' ? null : -1)
