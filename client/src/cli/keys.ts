import type { Command } from 'commander'
import { open, show, table, type Terminal } from './session.ts'

export function addKeys(program: Command, terminal: Terminal): void {
  const keys = program.command('keys').description('API keys')
  keys
    .command('list')
    .description('all keys, without their values')
    .action(async (_options: object, command: Command) => {
      const found = await (await open(terminal, command)).keys.list()
      show(terminal, command, found, () => table(found.map((key) => [key.id, key.name, key.last_four, key.created_at])))
    })
  keys
    .command('create')
    .description('a new key; its value is shown this once')
    .option('--name <name>')
    .option('--expires-at <time>', 'ISO 8601')
    .action(async ({ name, expiresAt }: { name?: string; expiresAt?: string }, command: Command) => {
      const body = { ...(name ? { name } : {}), ...(expiresAt ? { expires_at: expiresAt } : {}) }
      const made = await (await open(terminal, command)).keys.create({ body })
      show(terminal, command, made, () => [made.key])
    })
  keys
    .command('rotate <id>')
    .description('a new value for a key')
    .option('--grace <seconds>', 'how long the old value still works', '0')
    .action(async (id: string, { grace }: { grace: string }, command: Command) => {
      const client = await open(terminal, command)
      const made = await client.keys.rotate({ params: { id }, body: { grace_seconds: Number(grace) } })
      show(terminal, command, made, () => [made.key])
    })
  keys
    .command('delete <id>')
    .description('ends a key')
    .action(async (id: string, _options: object, command: Command) => {
      const done = await (await open(terminal, command)).keys.delete({ params: { id } })
      show(terminal, command, done, () => [done.message])
    })
}
