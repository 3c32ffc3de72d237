import type { Command } from 'commander'
import { parley } from '../client.ts'
import { show, type Terminal, writeLogin } from './session.ts'

export function addLogin(program: Command, terminal: Terminal): void {
  program
    .command('login')
    .description('keep the address of a server and an API key (of --key or PARLEY_API_KEY) for later commands')
    .action(async (_options: object, command: Command) => {
      const options = command.optsWithGlobals<{ baseUrl?: string; key?: string }>()
      const { environment } = terminal
      const baseUrl = (options.baseUrl ?? environment.baseUrl ?? 'http://127.0.0.1:3000').replace(/\/+$/, '')
      const key = options.key ?? environment.key
      if (key === undefined) throw new Error('give the API key with --key or PARLEY_API_KEY')
      // A key that does not work is not kept.
      const current = await parley({ baseUrl, key }).keys.current()
      await writeLogin(environment.configFile, { baseUrl, key })
      show(terminal, command, current, () => [`Logged in at ${baseUrl} as ${current.user_id}.`])
    })
}
