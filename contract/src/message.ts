import { z } from 'zod'
import { Content } from './content.ts'
import { described, done } from './described.ts'
import { endpoint } from './endpoint.ts'
import { Id, IdInput } from './id.ts'

/** Texts and images of one message; texts have at most 1,000,000 characters together. */
export const MessageContent = z
  .array(Content)
  .min(1)
  .max(100)
  .refine(
    (parts) => parts.reduce((sum, part) => sum + (part.type === 'text' ? part.text.length : 0), 0) <= 1_000_000,
    'texts must have at most 1,000,000 characters together',
  )
  .meta({ description: 'Texts and images; at most 1,000,000 characters of text together.' })

/** Bodies with a message may hold images, so they may be larger than others. */
export const messageBodyLimit = 16 * 1024 * 1024

const role = z.literal('user').default('user').meta({ description: 'Who speaks: the user.' })

/** A message as the start request and the event log take it. */
export const MessagePayload = z
  .object({
    role,
    content: MessageContent,
    run: z.boolean().default(false).meta({ description: 'Whether the agent is to work on it at once.' }),
  })
  .meta({ id: 'MessagePayload' })
export type MessagePayload = z.infer<typeof MessagePayload>

/** A follow-up message; it is worked on unless `run` is false. */
export const FollowUpMessage = z
  .object({
    role,
    content: MessageContent,
    run: z.boolean().default(true).meta({ description: 'False: the agent reads it with its next run.' }),
  })
  .meta({ id: 'FollowUpMessage' })
export type FollowUpMessage = z.infer<typeof FollowUpMessage>

const OfConversation = z.object({ id: IdInput })

/** The answer to a message: it is in the log when this is answered. */
export const MessageAccepted = z
  .object(
    described(
      {
        success: done,
        event_id: Id,
        seq: z.int().positive(),
        sandbox_status: z.enum(['STARTING', 'RUNNING', 'PAUSED']),
        message: z.string().nullable(),
      },
      {
        event_id: 'The message in the log.',
        seq: 'Its number there.',
        message: 'What happens next, in words.',
        sandbox_status: 'A paused sandbox resumes by itself.',
      },
    ),
  )
  .meta({ id: 'MessageAccepted' })
export type MessageAccepted = z.infer<typeof MessageAccepted>

const exampleMessage = { role: 'user', content: [{ type: 'text', text: 'Say hello.' }], run: true }
const exampleAccepted = {
  success: true,
  event_id: '0199f3c2-7a10-7c3e-9a51-2f0d6b1c8e44',
  seq: 2,
  sandbox_status: 'RUNNING',
  message: null,
} as const

export const postMessage = endpoint({
  method: 'POST',
  path: '/api/v1/conversation/{id}/events',
  summary: 'Send a message to a conversation',
  description: 'Appends the message to the log; with `run` the agent works on it. A paused sandbox resumes by itself.',
  access: 'events:write',
  params: OfConversation,
  body: MessagePayload,
  bodyLimit: messageBodyLimit,
  returns: MessageAccepted,
  fails: ['not_found', 'malformed_id', 'state_conflict', 'gone'],
  example: { body: exampleMessage, returns: exampleAccepted },
})

export const sendMessage = endpoint({
  method: 'POST',
  path: '/api/v1/app-conversations/{id}/send-message',
  summary: 'Send a follow-up message',
  description: 'The same as posting an event, except that the agent works on the message unless `run` is false.',
  access: 'events:write',
  params: OfConversation,
  body: FollowUpMessage,
  bodyLimit: messageBodyLimit,
  returns: MessageAccepted,
  fails: ['not_found', 'malformed_id', 'state_conflict', 'gone'],
  example: { body: exampleMessage, returns: exampleAccepted },
})
