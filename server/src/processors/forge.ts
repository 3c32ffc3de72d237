import type { GitProvider } from '@parley/contract/git-provider'
import { Problem } from '@parley/contract/problems'
import type { ForgeV1CallbackProcessor } from '@parley/contract/processors'
import { ForgeError, type NewComment } from '@parley/forge/forge'
import { type EventRow, type LogStore, record, type Subject } from '../conversations/service.ts'
import type { Git } from '../git/service.ts'
import type { Outcome, Work } from './processor.ts'
import type { ProcessorStore } from './store.ts'
import { resultOf } from './words.ts'

/*
 * When a conversation is finished, its result becomes a comment at the forge, written with the account that the conversation's
 * owner has connected: whatever the request says, nobody else's. It is begun once for each finish. When this service dies
 * between the comment and its note, it is not known whether the comment is there; a second one would be worse than none.
 */

export interface ForgeParts {
  store: Pick<ProcessorStore, 'claim'>
  logs: Pick<LogStore, 'lastOfAgent'>
  git: Pick<Git, 'forge' | 'connected'>
}

const postMs = 30_000
const lookBack = 50
/** Forges take about 65,000 characters. */
const longestComment = 60_000

export const forge =
  (parts: ForgeParts): Work =>
  async ({ callback, event, subject, signal }) => {
    const processor = callback.processor as ForgeV1CallbackProcessor
    if (event.kind !== 'ConversationStateUpdateEvent' || event.key !== 'execution_status') return undefined
    if (event.value !== 'finished' || !processor.should_request_summary) return undefined
    const comment = await commentOn(parts, processor, subject, event.seq)
    if (typeof comment === 'string') return { status: 'ERROR', detail: comment }
    const kind = await kindFor(parts, subject)
    if (kind === undefined) throw new Problem('forge_not_connected')
    // Opened before it is claimed: without a connection nothing has been begun.
    const account = await parts.git.forge(
      subject.owner_id,
      kind,
      AbortSignal.any([signal, AbortSignal.timeout(postMs)]),
    )
    if (!(await parts.store.claim(callback.id, event.id)))
      return { status: 'ERROR', detail: 'The service stopped while it was posting; the comment may be there.' }
    return posted(() => account.comment(comment), signal)
  }

async function posted(post: () => Promise<{ url: string }>, signal: AbortSignal): Promise<Outcome> {
  try {
    return { status: 'SUCCESS', detail: (await post()).url, becomes: 'COMPLETED' }
  } catch (error) {
    if (signal.aborted) throw signal.reason
    if (error instanceof ForgeError) return { status: 'ERROR', detail: error.message }
    if ((error as Error | null)?.name === 'TimeoutError')
      return { status: 'ERROR', detail: 'The forge did not answer in time.' }
    throw error
  }
}

/** The comment, or why there is none. */
async function commentOn(
  { logs }: ForgeParts,
  { forge_view_data: view, inline_pr_comment: inline }: ForgeV1CallbackProcessor,
  subject: Subject,
  seq: number,
): Promise<NewComment | string> {
  const repository = view.full_repo_name ?? subject.selected_repository
  const number = view.issue_number ?? subject.pr_number[0]
  if (repository === null) return 'It is not said which repository the comment is for.'
  if (number === undefined) return 'It is not said which issue or pull request the comment is for.'
  const said = lastResult(await logs.lastOfAgent(subject.id, seq, lookBack))
  if (said === undefined) return 'The agent has said nothing that could be posted.'
  const body = said.length > longestComment ? `${said.slice(0, longestComment)}\n\n…` : said
  const on = inline || subject.pr_number.includes(number) ? 'pull_request' : 'issue'
  const inReplyTo = inline && view.comment_id !== undefined ? String(view.comment_id) : null
  return { repository, on, number, body, inReplyTo }
}

const lastResult = (newestFirst: readonly EventRow[]): string | undefined =>
  newestFirst.map((row) => resultOf(record(row))).find((said) => said !== '')

/** The forge that the conversation is about; the only one that is connected when it does not say. */
async function kindFor({ git }: ForgeParts, subject: Subject): Promise<GitProvider | undefined> {
  if (subject.git_provider !== null) return subject.git_provider
  const kinds = Object.keys(await git.connected(subject.owner_id)) as GitProvider[]
  return kinds.length === 1 ? kinds[0] : undefined
}
