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
      const lines = () =>
        table(found.custom_secrets.map((secret) => [secret.name, secret.description, secret.hosts?.join(' ') ?? '']))
      show(terminal, command, found, lines)
    })
  secrets
    .command('create <name>')
    .description('a new secret; the value is read from standard input, so that it is in no history')
    .option('--description <text>')
    .option('--host <host...>', 'commands see a placeholder, and the value goes to these hosts alone')
    .action(async (name: string, options: { description?: string; host?: string[] }, command: Command) => {
      const { description, host } = options
      const client = await open(terminal, command)
      const value = (await text(process.stdin)).replace(/\r?\n$/, '')
      const more = { ...(description ? { description } : {}), ...(host ? { hosts: host } : {}) }
      const done = await client.secrets.create({ body: { name, value, ...more } })
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
