import { z } from 'zod'
import { described } from './described.ts'
import { endpoint } from './endpoint.ts'
import { exampleIds } from './examples.ts'
import { Id, canonicalId } from './id.ts'
import { MessageContent, messageBodyLimit, MessagePayload } from './message.ts'

/** How many messages may wait for one conversation. */
export const maxPendingMessages = 10

export type PendingTarget = { kind: 'conversation'; id: string } | { kind: 'task'; id: string }

/** A conversation's id, or `task-` and a start task's id; undefined for anything else. */
export function pendingTarget(text: string): PendingTarget | undefined {
  const task = text.startsWith('task-')
  const id = canonicalId(task ? text.slice(5) : text)
  if (id === undefined) return undefined
  return { kind: task ? 'task' : 'conversation', id }
}

const PendingTargetInput = z
  .string()
  .max(64)
  .transform((text, ctx): PendingTarget => {
    const target = pendingTarget(text)
    if (target !== undefined) return target
    ctx.addIssue({ code: 'custom', message: 'must be a UUID or task-UUID', params: { malformed_id: true } })
    return z.NEVER
  })
  .meta({ description: 'A conversation id, or `task-` and a start task id.' })

/** `position` counts from 1. */
export const PendingMessage = z
  .object(
    described(
      { id: Id, queued: z.literal(true), position: z.int().positive() },
      { queued: 'It waits.', position: 'From 1.' },
    ),
  )
  .meta({ id: 'PendingMessage' })
export type PendingMessage = z.infer<typeof PendingMessage>

export const queueMessage = endpoint({
  method: 'POST',
  path: '/api/v1/conversations/{id}/pending-messages',
  summary: 'Queue a message before the conversation is ready',
  description: 'The message waits until the start is READY, is delivered in order, and is kept until that is done.',
  access: 'events:write',
  params: z.object({ id: PendingTargetInput }),
  body: z.object({ content: MessageContent, role: MessagePayload.shape.role }),
  bodyLimit: messageBodyLimit,
  returns: PendingMessage,
  status: 201,
  fails: ['not_found', 'malformed_id', 'too_many_pending_messages', 'state_conflict', 'gone'],
  example: {
    body: { content: [{ type: 'text', text: 'And run the tests.' }] },
    returns: { id: exampleIds.task, queued: true, position: 1 },
  },
})
