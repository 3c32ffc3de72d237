import type { AppConversation } from '@parley/contract/conversations'
import type { Who } from '@parley/contract/endpoint'
import { Problem } from '@parley/contract/problems'
import { StartRequest } from '@parley/contract/start-request'
import type { StartTask } from '@parley/contract/start-tasks'
import { type V0Conversation, type V0StartRequest, type V0Started, v0Status } from '@parley/contract/v0'
import type { Conversations } from '../conversations/service.ts'

/** The deprecated interface in terms of the present one. */

export type V0 = ReturnType<typeof v0Service>

interface StartSearch {
  conversation_id__eq: string
  sort_order: 'CREATED_AT_DESC'
  limit: number
}

interface Parts {
  conversations: Pick<Conversations, 'begin' | 'many'>
  tasks: { search(owner: string, query: StartSearch): Promise<{ items: StartTask[] }> }
  /** Off: every call is told where to go. */
  enabled: boolean
}

export const successor = '</api/v1/app-conversations>; rel="successor-version"'

export function v0Service({ conversations, tasks, enabled }: Parts) {
  function mustBeOn(): void {
    const detail = 'V0 has been removed from this server. Use POST /api/v1/app-conversations; see /docs.'
    if (!enabled) throw new Problem('gone', detail, { headers: { link: successor } })
  }

  return {
    /** Answers with the id that the conversation will have. */
    async start(who: Who, request: V0StartRequest, once?: string): Promise<V0Started> {
      mustBeOn()
      const { request: made } = await conversations.begin(who, translated(request), once)
      const id = made.conversation_id
      if (id === null) throw new Error('a start has no conversation id')
      return { status: 'ok', conversation_id: id, message: null, conversation_status: 'STARTING' }
    },

    /** Null when there is none; while it starts, and when that failed, what its start says of it. */
    async get(owner: string, id: string): Promise<V0Conversation | null> {
      mustBeOn()
      const [found] = await conversations.many(owner, [id])
      if (found) return shown(found)
      const query = { conversation_id__eq: id, sort_order: 'CREATED_AT_DESC' as const, limit: 1 }
      const [task] = (await tasks.search(owner, query)).items
      return task === undefined ? null : starting(id, task)
    },
  }
}

function translated(request: V0StartRequest): StartRequest {
  const text = request.initial_user_msg ? [{ type: 'text' as const, text: request.initial_user_msg }] : []
  const images = request.image_urls?.length ? [{ type: 'image' as const, image_urls: request.image_urls }] : []
  const content = [...text, ...images]
  const start = StartRequest.safeParse({
    initial_message: content.length > 0 ? { content, run: true } : null,
    system_message_suffix: request.conversation_instructions,
    selected_repository: request.repository,
    selected_branch: request.selected_branch,
    git_provider: request.git_provider,
  })
  if (start.success) return start.data
  throw new Problem('validation_error', start.error.issues.map(({ message }) => message).join('; '))
}

const fixed = { url: null, session_api_key: null, conversation_version: 'V1' } as const

const shown = (one: AppConversation): V0Conversation => ({
  ...fixed,
  conversation_id: one.id,
  title: one.title,
  created_at: one.created_at,
  last_updated_at: one.updated_at,
  status: v0Status(one.sandbox_status),
  selected_repository: one.selected_repository,
  selected_branch: one.selected_branch,
  git_provider: one.git_provider,
  trigger: one.trigger,
  pr_number: one.pr_number,
  url: one.conversation_url,
  sub_conversation_ids: one.sub_conversation_ids,
})

const starting = (id: string, { request, status, created_at, updated_at }: StartTask): V0Conversation => ({
  ...fixed,
  conversation_id: id,
  title: request.title,
  created_at,
  last_updated_at: updated_at,
  status: status === 'ERROR' ? 'ERROR' : 'STARTING',
  selected_repository: request.selected_repository,
  selected_branch: request.selected_branch,
  git_provider: request.git_provider,
  trigger: request.trigger,
  pr_number: request.pr_number,
  sub_conversation_ids: [],
})
