import { text } from 'node:stream/consumers'
import type { Command } from 'commander'
import { open, show, table, type Terminal } from './session.ts'

export function addGit(program: Command, terminal: Terminal): void {
  const git = program.command('git').description('Git hosts and what they offer')
  git
    .command('accounts')
    .description('connected hosts')
    .action(async (_options: object, command: Command) => {
      const found = await (await open(terminal, command)).git.accounts()
      show(terminal, command, found, () => found.map((account) => JSON.stringify(account)))
    })
  git
    .command('connect <provider>')
    .description('connects a host; the token is read from standard input')
    .option('--host <host>', 'where it is not the public one')
    .action(async (provider: string, { host }: { host?: string }, command: Command) => {
      const client = await open(terminal, command)
      const token = (await text(process.stdin)).trim()
      const body = { provider_tokens: { [provider]: { token, ...(host ? { host } : {}) } } }
      const done = await client.git.connect({ body })
      show(terminal, command, done, () => [done.message])
    })
  git
    .command('repositories <provider>')
    .description('repositories that can be worked on')
    .option('--query <text>')
    .action(async (provider: string, { query }: { query?: string }, command: Command) => {
      const client = await open(terminal, command)
      const found = await client.git.repositories({ query: { provider, ...(query ? { query } : {}) } })
      show(terminal, command, found, () => found.items.map((repository) => repository.full_name))
    })
  git
    .command('branches <provider> <repository>')
    .description('branches of a repository')
    .action(async (provider: string, repository: string, _options: object, command: Command) => {
      const found = await (await open(terminal, command)).git.branches({ query: { provider, repository } })
      show(terminal, command, found, () => table(found.items.map((branch) => [branch.name])))
    })
}
