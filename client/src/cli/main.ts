import { Problem } from '@parley/contract/problems'
import { Command, CommanderError } from 'commander'
import { addConversations } from './conversations.ts'
import { environment } from './environment.ts'
import { addGit } from './git.ts'
import { addKeys } from './keys.ts'
import { addLogin } from './login.ts'
import { addSandboxes } from './sandboxes.ts'
import { addSecrets } from './secrets.ts'
import { plain, type Terminal } from './session.ts'
import { addSettings } from './settings.ts'

/** The commands of a client: one noun each. `extend` adds more of them, such as those of a server on its own machine. */
export function program(terminal: Terminal, extend: (program: Command) => void = () => undefined): Command {
  const command = new Command('parley')
    .description('Conversations with coding agents')
    .option('--base-url <url>', 'address of the server')
    .option('--key <key>', 'API key')
    .option('--json', 'answers as JSON, one value a line')
    .exitOverride()
    .configureOutput({ writeOut: (text) => terminal.write(text) })
  for (const add of [addLogin, addConversations, addSandboxes, addSecrets, addSettings, addGit, addKeys]) {
    add(command, terminal)
  }
  extend(command)
  return command
}

/** Runs one command line (without program and script name); gives the exit code: 0 done, 1 failed, 2 misused. */
export async function run(words: string[], terminal: Terminal, fail: (text: string) => void): Promise<number> {
  try {
    await program(terminal).parseAsync(words, { from: 'user' })
    return 0
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
    fail(`${plain(error instanceof Error ? error.message : String(error))}\n`)
    if (error instanceof Problem) for (const line of problemLines(error)) fail(`${plain(line)}\n`)
    return 1
  }
}

function problemLines({ extra }: Problem): string[] {
  const errors = (extra.errors ?? []).map(({ loc, msg }) => `  ${loc.join('.')}: ${msg}`)
  const id = extra.members?.request_id
  return typeof id === 'string' ? [...errors, `  request ${id}`] : errors
}

if (import.meta.main) {
  const stop = new AbortController()
  process.once('SIGINT', () => stop.abort(new Error('interrupted')))
  const terminal = {
    environment: environment(),
    write: (text: string) => void process.stdout.write(text),
    signal: stop.signal,
  }
  process.exitCode = await run(process.argv.slice(2), terminal, (text) => void process.stderr.write(text))
}
