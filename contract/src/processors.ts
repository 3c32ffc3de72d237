import { z } from 'zod'
import { described, kindOf } from './described.ts'

/*
 * Callback processors: what Parley does when events of a conversation are stored. Forge and Chat act only through a
 * connection that the caller owns.
 */

/** Where a summary goes at the forge. Further members are kept. */
export const ForgeViewData = z.looseObject(
  described(
    {
      installation_id: z.union([z.string().max(255), z.int()]).optional(),
      full_repo_name: z.string().max(256).optional(),
      issue_number: z.int().min(1).optional(),
      comment_id: z.union([z.string().max(255), z.int()]).optional(),
    },
    {
      installation_id: 'Kept for clients that send it; the comment is written with the caller’s own account.',
      full_repo_name: '`owner/name`; absent: the repository of the conversation.',
      issue_number: 'Of the issue or pull request; absent: the first pull request of the conversation.',
      comment_id: 'The comment that is answered, with `inline_pr_comment`.',
    },
  ),
)

export const ForgeV1CallbackProcessor = z
  .object(
    described(
      {
        kind: kindOf('ForgeV1CallbackProcessor'),
        forge_view_data: ForgeViewData.default({}),
        should_request_summary: z.boolean().default(true),
        inline_pr_comment: z.boolean().default(false),
      },
      {
        forge_view_data: 'Where the comment goes.',
        should_request_summary: 'Whether the result becomes a comment each time the conversation is finished.',
        inline_pr_comment: 'Whether it answers a comment on a line of a pull request.',
      },
    ),
  )
  .meta({ id: 'ForgeV1CallbackProcessor' })
export type ForgeV1CallbackProcessor = z.infer<typeof ForgeV1CallbackProcessor>

/** `chat_view_data` names the thread: team_id, channel_id, thread_ts, message_ts. */
export const ChatV1CallbackProcessor = z
  .object(
    described(
      {
        kind: kindOf('ChatV1CallbackProcessor'),
        chat_view_data: z.record(z.string(), z.string().nullable()).default({}),
        should_request_summary: z.boolean().default(true),
      },
      {
        chat_view_data: 'The thread: `team_id`, `channel_id`, `thread_ts`, `message_ts`.',
        should_request_summary:
          'Whether the result becomes a message. No chat can be connected here, so a start with it is refused.',
      },
    ),
  )
  .meta({ id: 'ChatV1CallbackProcessor' })
export type ChatV1CallbackProcessor = z.infer<typeof ChatV1CallbackProcessor>

export const LoggingCallbackProcessor = z
  .object({ kind: kindOf('LoggingCallbackProcessor') })
  .meta({ id: 'LoggingCallbackProcessor' })
export type LoggingCallbackProcessor = z.infer<typeof LoggingCallbackProcessor>

export const SetTitleCallbackProcessor = z
  .object({ kind: kindOf('SetTitleCallbackProcessor') })
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
