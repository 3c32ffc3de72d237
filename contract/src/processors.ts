import { z } from 'zod'

/*
 * Callback processors: what Parley does when events of a conversation are stored. Forge and Chat act only through a
 * connection that the caller owns.
 */

/** Where a summary goes at the forge. Further members are kept. */
export const ForgeViewData = z.looseObject({
  installation_id: z.union([z.string().max(255), z.int()]).optional(),
  full_repo_name: z.string().max(256).optional(),
  issue_number: z.int().min(1).optional(),
  comment_id: z.union([z.string().max(255), z.int()]).optional(),
})

export const ForgeV1CallbackProcessor = z
  .object({
    kind: z.literal('ForgeV1CallbackProcessor'),
    forge_view_data: ForgeViewData.default({}),
    should_request_summary: z.boolean().default(true),
    inline_pr_comment: z.boolean().default(false),
  })
  .meta({ id: 'ForgeV1CallbackProcessor' })
export type ForgeV1CallbackProcessor = z.infer<typeof ForgeV1CallbackProcessor>

/** `chat_view_data` names the thread: team_id, channel_id, thread_ts, message_ts. */
export const ChatV1CallbackProcessor = z
  .object({
    kind: z.literal('ChatV1CallbackProcessor'),
    chat_view_data: z.record(z.string(), z.string().nullable()).default({}),
    should_request_summary: z.boolean().default(true),
  })
  .meta({ id: 'ChatV1CallbackProcessor' })
export type ChatV1CallbackProcessor = z.infer<typeof ChatV1CallbackProcessor>

export const LoggingCallbackProcessor = z
  .object({ kind: z.literal('LoggingCallbackProcessor') })
  .meta({ id: 'LoggingCallbackProcessor' })
export type LoggingCallbackProcessor = z.infer<typeof LoggingCallbackProcessor>

export const SetTitleCallbackProcessor = z
  .object({ kind: z.literal('SetTitleCallbackProcessor') })
  .meta({ id: 'SetTitleCallbackProcessor' })
export type SetTitleCallbackProcessor = z.infer<typeof SetTitleCallbackProcessor>

/** Exactly the four kinds of the specification; another kind is a validation error. */
export const Processor = z.discriminatedUnion('kind', [
  ForgeV1CallbackProcessor,
  ChatV1CallbackProcessor,
  LoggingCallbackProcessor,
  SetTitleCallbackProcessor,
])
export type Processor = z.infer<typeof Processor>
