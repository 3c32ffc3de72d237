import type { ShellResult } from '@parley/sandbox/driver'

/* How the terminal's results look, of commands of the shell and of jobs alike. */

export const terminalObservation = 'TerminalObservation'
export const outputLimit = 30_000

/*
 * What a terminal obeys and does not show: control sequences (CSI), strings for the terminal (OSC, DCS, SOS, PM, APC) that have
 * an end, and any other escape. Each class leaves out what begins the next part, so the time grows with the length and no
 * faster, whatever a program prints: it is run on output that nobody vouches for. Node's own and the usual packages take
 * seconds for a hundred kilobytes of strings without an end.
 * ECMA-48, sections 5.4 and 5.6.
 */
const escapes =
  // oxlint-disable-next-line no-control-regex -- these are what is looked for
  /\x1b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)|[ -/]*[0-~])|\x9b[0-?]*[ -/]*[@-~]/g

/** Without colours, and of a line that was drawn over and over only what stood there last. */
export const readable = (output: string): string =>
  output
    .replaceAll(escapes, '')
    .replaceAll('\r\n', '\n')
    .split('\n')
    .map((line) => line.slice(line.lastIndexOf('\r') + 1))
    .join('\n')

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
