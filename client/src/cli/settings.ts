import { text } from 'node:stream/consumers'
import { SettingsUpdate } from '@parley/contract/settings'
import type { Command } from 'commander'
import type { Parley } from '../client.ts'
import { open, show, type Terminal } from './session.ts'

type Update = NonNullable<NonNullable<Parameters<Parley['settings']['update']>[0]>['body']>

export function addSettings(program: Command, terminal: Terminal): void {
  const settings = program.command('settings').description('defaults of your conversations')
  settings
    .command('show')
    .action(async (_options: object, command: Command) => {
      const found = await (await open(terminal, command)).settings.get()
      show(terminal, command, found, () => [JSON.stringify(found, null, 2)])
    })
    .description('the stored settings, secrets masked')
  settings
    .command('update')
    .description('changes settings; a JSON object of what changes is read from standard input')
    .action(async (_options: object, command: Command) => {
      const client = await open(terminal, command)
      const given: unknown = JSON.parse(await text(process.stdin))
      SettingsUpdate.parse(given)
      // What was parsed is what the endpoint takes.
      const done = await client.settings.update({ body: given as Update })
      show(terminal, command, done, () => [done.message])
    })
}
