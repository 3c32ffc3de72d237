import { z } from 'zod'
import { Content } from './content.ts'

/** Texts and images of one message; texts have at most 1,000,000 characters together. */
export const MessageContent = z
  .array(Content)
  .min(1)
  .max(100)
  .refine(
    (parts) => parts.reduce((sum, part) => sum + (part.type === 'text' ? part.text.length : 0), 0) <= 1_000_000,
    'texts must have at most 1,000,000 characters together',
  )

/** Bodies with a message may hold images, so they may be larger than others. */
export const messageBodyLimit = 16 * 1024 * 1024

const role = z.literal('user').default('user')

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
  .object({ role, content: MessageContent, run: z.boolean().default(true) })
  .meta({ id: 'FollowUpMessage' })
export type FollowUpMessage = z.infer<typeof FollowUpMessage>
