import { text } from 'node:stream/consumers'
import type { Command } from 'commander'
import { open, show, table, type Terminal } from './session.ts'

export function addSecrets(program: Command, terminal: Terminal): void {
  const secrets = program.command('secrets').description('values that conversations may use by name')
  secrets
    .command('list')
    .description('names of all secrets')
    .action(async (_options: object, command: Command) => {
      const found = await (await open(terminal, command)).secrets.list()
      const lines = () => table(found.custom_secrets.map((secret) => [secret.name, secret.description]))
      show(terminal, command, found, lines)
    })
  secrets
    .command('create <name>')
    .description('a new secret; the value is read from standard input, so that it is in no history')
    .option('--description <text>')
    .action(async (name: string, { description }: { description?: string }, command: Command) => {
      const client = await open(terminal, command)
      const value = (await text(process.stdin)).replace(/\r?\n$/, '')
      const done = await client.secrets.create({ body: { name, value, ...(description ? { description } : {}) } })
      show(terminal, command, done, () => [done.message])
    })
  secrets
    .command('delete <id>')
    .description('ends a secret, by id or name')
    .action(async (id: string, _options: object, command: Command) => {
      const done = await (await open(terminal, command)).secrets.delete({ params: { id } })
      show(terminal, command, done, () => [done.message])
    })
}
