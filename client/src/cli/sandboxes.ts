import type { Command } from 'commander'
import { open, show, table, type Terminal } from './session.ts'

export function addSandboxes(program: Command, terminal: Terminal): void {
  const sandboxes = program.command('sandboxes').description('where conversations work')
  sandboxes
    .command('list')
    .option('--page <id>', 'the next page, as the last one named it')
    .description('a page of sandboxes')
    .action(async ({ page }: { page?: string }, command: Command) => {
      const client = await open(terminal, command)
      const found = await client.sandboxes.search({ query: page ? { page_id: page } : {} })
      show(terminal, command, found, () => table(found.items.map((sandbox) => [sandbox.id, sandbox.status])))
    })
  for (const verb of ['pause', 'resume', 'delete'] as const) {
    sandboxes
      .command(`${verb} <id>`)
      .description(`${verb}s a sandbox`)
      .action(async (id: string, _options: object, command: Command) => {
        const done = await (await open(terminal, command)).sandboxes[verb]({ params: { id } })
        show(terminal, command, done, () => [`${verb}: done`])
      })
  }
}
