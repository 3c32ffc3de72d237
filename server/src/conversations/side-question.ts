import { answerAside, BudgetSpent, type SideAnswer as Answered } from '@parley/agent/loop/aside'
import { masker } from '@parley/agent/mask'
import { ModelError } from '@parley/agent/model/model'
import { openModel } from '@parley/agent/model/models'
import type { SideAnswer } from '@parley/contract/conversation-insight'
import type { LogEvent } from '@parley/contract/events'
import { Problem } from '@parley/contract/problems'
import type { Clock } from '@parley/store/clock'
import type { Database } from '@parley/store/database'
import type { Seal } from '@parley/store/seal'
import type { Wake } from '@parley/store/wake'
import type { SecretsService } from '../secrets/service.ts'
import type { ConversationConfig } from './config.ts'
import { newRow } from './log/record.ts'
import { type LogStore, logStore } from './log/store.ts'
import { counted } from './metrics.ts'
import { keysOf, llmOf, readOn, sealedConfig, spentBeside } from './run/known.ts'
import { secretsOf } from './run/secrets.ts'
import type { ConversationStore } from './store.ts'
import { eventsTopic, inboxTopic } from './topics.ts'

/* Questions beside a conversation: answered from its log by its model. All that stays of one is what it cost. */

export interface AsideParts {
  database: Database
  store: Pick<ConversationStore, 'forWork'>
  logs: Pick<LogStore, 'after'>
  secrets: Pick<SecretsService, 'values'>
  seal: Seal
  wake: Wake
  clock: Clock
  /** The only way of a model to the network. */
  fetch: typeof fetch
}

export type AskAside = ReturnType<typeof sideQuestions>

const longestMs = 30_000

export function sideQuestions(parts: AsideParts) {
  /** Conversations with a question under way here: two at once could pass the budget together. */
  const busy = new Set<string>()

  return async (id: string, question: string, signal: AbortSignal): Promise<SideAnswer> => {
    if (busy.has(id))
      throw new Problem('quota_exceeded', 'Another question of this conversation is being answered.', { retryAfter: 5 })
    busy.add(id)
    try {
      return await answered(parts, id, question, signal)
    } finally {
      busy.delete(id)
    }
  }
}

async function answered(parts: AsideParts, id: string, question: string, signal: AbortSignal): Promise<SideAnswer> {
  const { seal, clock, fetch, secrets, logs, store } = parts
  const row = await store.forWork(id)
  if (row === undefined) throw new Problem('not_found')
  // Written by us when the conversation was made; one that another server reports has none.
  const config = row.config as Partial<ConversationConfig>
  if (config.llm === undefined) throw new Problem('state_conflict', 'The agent of this conversation runs elsewhere.')
  const sealed = await sealedConfig(seal, row)
  const { said } = secretsOf(await secrets.values(row.owner_id), sealed)
  const mask = masker([...said, ...keysOf(sealed)])
  const model = openModel(llmOf({ ...config, llm: config.llm }, sealed), { fetch, clock })
  const events: LogEvent[] = []
  await readOn(logs, row.id, events)
  const maxBudget = config.max_budget_per_task ?? null
  const asked = {
    events,
    model,
    clock,
    maxBudget,
    question: mask.text(question),
    cacheKey: row.id,
    spentBeside: spentBeside(row.metrics),
  }
  const limit = AbortSignal.timeout(longestMs)
  const { text, event } = await answerAside(asked, AbortSignal.any([signal, limit])).catch((error: unknown) => {
    throw limit.aborted && !signal.aborted ? late() : failed(error)
  })
  await account(parts, row.id, event, { contextWindow: model.contextWindow, budget: maxBudget })
  if (text === '') throw new Problem('upstream_error', 'The model gave no answer.')
  return { answer: mask.text(text), model: model.name, cost: event.cost }
}

const late = () => new Problem('upstream_timeout', `The model did not answer within ${longestMs / 1000} s.`)

function failed(error: unknown): unknown {
  if (error instanceof BudgetSpent) return new Problem('state_conflict', error.message)
  if (!(error instanceof ModelError)) return error
  return new Problem('upstream_error', `The model could not answer: ${error.message.slice(0, 1_000)}`)
}

/** Counted in the log and in the sums of the conversation, in one commit. It asks for no run. */
async function account(
  { database, clock, wake }: AsideParts,
  id: string,
  event: Answered['event'],
  facts: Parameters<typeof counted>[2],
): Promise<void> {
  const row = newRow(event, clock.id(), clock.now())
  await database.transaction(async (tx) => {
    const log = logStore(tx)
    const before = await log.metrics(id)
    // Deleted meanwhile: there is nobody to tell.
    if (before === undefined) return
    const call = { ...event, id: row.id, seq: 0, timestamp: row.at, parent_id: null }
    await log.append(id, [row], { wants: false, revives: [] })
    await log.count(id, event.usage_id, counted(before, call, facts)[event.usage_id])
  })
  wake.tell(inboxTopic(id))
  wake.tell(eventsTopic(id))
}
