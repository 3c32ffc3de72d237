import { z } from 'zod'
import { kindOf } from './described.ts'
import { endpoint } from './endpoint.ts'
import { IdInput } from './id.ts'

/* A terminal of a person in the sandbox of a conversation. It is theirs alone: the agent neither sees nor shares it. */

const columns = z.coerce.number().int().min(2).max(500).meta({ description: 'Width in characters.' })
const rows = z.coerce.number().int().min(2).max(300).meta({ description: 'Height in lines.' })

/** How much output may be on its way before the other end has said that it has drawn it, in characters. */
export const terminalWindow = 256 * 1024

/** What a person's end says: keys, another size, or that so many characters of output have been drawn. */
export const TerminalInput = z
  .discriminatedUnion('type', [
    z.object({ type: kindOf('input'), data: z.string().max(64 * 1024) }),
    z.object({ type: kindOf('resize'), columns, rows }),
    z.object({ type: kindOf('drawn'), characters: z.int().min(1).max(terminalWindow) }),
  ])
  .meta({ id: 'TerminalInput' })
export type TerminalInput = z.infer<typeof TerminalInput>

/** What the sandbox's end says: output as it comes, and at last how the shell ended (`code` null: by a signal). */
export const TerminalOutput = z
  .discriminatedUnion('type', [
    z.object({ type: kindOf('output'), data: z.string() }),
    z.object({ type: kindOf('exit'), code: z.int().nullable() }),
  ])
  .meta({ id: 'TerminalOutput' })
export type TerminalOutput = z.infer<typeof TerminalOutput>

export const openTerminal = endpoint({
  method: 'GET',
  path: '/api/v1/app-conversations/{id}/terminal',
  summary: 'Open a terminal in the sandbox',
  description:
    'A WebSocket to a shell of its own in the working directory; it ends with the connection. Frames are JSON: ' +
    '`TerminalInput` in, `TerminalOutput` out. Output waits while more than 262,144 characters have not been said to be drawn.',
  access: 'conversations:write',
  params: z.object({ id: IdInput }),
  query: z.object({ columns: columns.default(80), rows: rows.default(24) }),
  returns: TerminalOutput,
  answer: 'socket',
  fails: ['not_found', 'malformed_id', 'state_conflict', 'gone', 'sandbox_error', 'capacity'],
  example: { returns: { type: 'output', data: '$ ' } },
})
