import type { Command } from 'commander'
import { follow, start } from '../follow.ts'
import { eventLines } from './event-lines.ts'
import { open, show, table, type Terminal } from './session.ts'

interface StartOptions {
  repository?: string
  branch?: string
  model?: string
  title?: string
  follow?: boolean
}

export function addConversations(program: Command, terminal: Terminal): void {
  const conversations = program.command('conversations').description('conversations with an agent')
  addStart(conversations, terminal)
  addReading(conversations, terminal)
  conversations
    .command('send <id> <message>')
    .description('sends a message; the agent works on it')
    .action(async (id: string, message: string, _options: object, command: Command) => {
      const client = await open(terminal, command)
      const body = { content: [{ type: 'text' as const, text: message }] }
      const done = await client.conversations.sendMessage({ params: { id }, body })
      show(terminal, command, done, () => ['sent'])
    })
  conversations
    .command('ask <id> <question>')
    .description('asks the agent something beside its work, which goes on without it')
    .action(async (id: string, question: string, _options: object, command: Command) => {
      const client = await open(terminal, command)
      const said = await client.conversations.ask({ params: { id }, body: { question } })
      show(terminal, command, said, () => said.answer.split('\n'))
    })
  for (const verb of ['pause', 'condense', 'delete'] as const) {
    conversations
      .command(`${verb} <id>`)
      .description(`${verb}s a conversation`)
      .action(async (id: string, _options: object, command: Command) => {
        const done = await (await open(terminal, command)).conversations[verb]({ params: { id } })
        show(terminal, command, done ?? null, () => [`${verb}: done`])
      })
  }
}

function addStart(conversations: Command, terminal: Terminal): void {
  conversations
    .command('start [message]')
    .description('starts a conversation and waits until it is ready')
    .option('--repository <name>', 'owner/name')
    .option('--branch <name>')
    .option('--model <name>', 'provider/model')
    .option('--title <text>')
    .option('--follow', 'shows the events until interrupted')
    .action(async (message: string | undefined, options: StartOptions, command: Command) => {
      const client = await open(terminal, command)
      const { signal } = terminal
      const body = {
        ...(message ? { initial_message: { content: [{ type: 'text' as const, text: message }], run: true } } : {}),
        ...(options.repository ? { selected_repository: options.repository } : {}),
        ...(options.branch ? { selected_branch: options.branch } : {}),
        ...(options.model ? { llm_model: options.model } : {}),
        ...(options.title ? { title: options.title } : {}),
      }
      const changed = (task: { status: string }) => show(terminal, command, task, () => [task.status])
      const task = await start(client, body, { signal, changed })
      const id = task.app_conversation_id ?? ''
      if (!command.optsWithGlobals<{ json?: boolean }>().json) show(terminal, command, id, () => [id])
      if (options.follow)
        for await (const event of follow(client, id, { signal }))
          show(terminal, command, event, () => eventLines(event))
    })
}

function addReading(conversations: Command, terminal: Terminal): void {
  conversations
    .command('list')
    .description('a page of conversations, the newest first')
    .option('--page <id>', 'the next page, as the last one named it')
    .action(async ({ page }: { page?: string }, command: Command) => {
      const client = await open(terminal, command)
      const found = await client.conversations.search({ query: page ? { page_id: page } : {} })
      const rows = found.items.map((one) => [one.id, one.execution_status, one.title])
      const next = found.next_page_id === null ? [] : [`next page: ${found.next_page_id}`]
      show(terminal, command, found, () => [...table(rows), ...next])
    })
  conversations
    .command('show <id>')
    .description('one conversation, and what it is waiting for')
    .action(async (id: string, _options: object, command: Command) => {
      const found = await (await open(terminal, command)).conversations.get({ params: { id } })
      show(terminal, command, found, () => [JSON.stringify(found, null, 2)])
    })
  conversations
    .command('follow <id>')
    .description('shows the events as they come, until interrupted')
    .option('--after <seq>', 'only what comes after this event', '0')
    .action(async (id: string, { after }: { after: string }, command: Command) => {
      const client = await open(terminal, command)
      const events = follow(client, id, { signal: terminal.signal, afterSeq: Number(after) })
      for await (const event of events) show(terminal, command, event, () => eventLines(event))
    })
}
