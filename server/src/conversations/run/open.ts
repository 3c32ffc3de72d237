import { setTimeout as sleep } from 'node:timers/promises'
import { Fenced } from '@parley/agent/log'
import type { RunOptions, ToolMemory } from '@parley/agent/loop/work'
import { type Masker, masker } from '@parley/agent/mask'
import type { McpPlace } from '@parley/agent/mcp/connect'
import type { LlmConfig } from '@parley/agent/model/config'
import { openModel } from '@parley/agent/model/models'
import type { Tool } from '@parley/agent/tools/tool'
import type { LogEvent, NewEvent } from '@parley/contract/events'
import type { Job } from '@parley/store/jobs'
import type { Sandboxes } from '../../sandboxes/service.ts'
import type { SecretsService } from '../../secrets/service.ts'
import type { Checkpoints } from '../checkpoints/save.ts'
import type { ConversationConfig } from '../config.ts'
import type { Live } from '../live.ts'
import type { AppendFenced } from '../log/group.ts'
import type { Recent } from '../log/recent.ts'
import { record } from '../log/record.ts'
import { type RunLog, runLog } from '../log/run-log.ts'
import type { HeadChange, LogStore } from '../log/store.ts'
import { counted, type Usages } from '../metrics.ts'
import type { ConversationRow, ConversationStore, HeadRow } from '../store.ts'
import { eventsTopic } from '../topics.ts'
import { type ChildParts } from './children-begin.ts'
import { childrenOf } from './children.ts'
import { maskedDeltas } from './deltas.ts'
import { mcpServersOf, serverNews, suffixOf, toolsOf } from './equip.ts'
import type { Kept } from './kept.ts'
import { keysOf, llmOf, readOn, sealedConfig, spentBeside } from './known.ts'
import { policyOf } from './policy.ts'
import { handedOut, headersOf, namedBefore, type RunSecrets, secretsOf } from './secrets.ts'

/** Everything a run needs, made from the conversation's row: log, model, hands, tools and what bounds them. */

export interface RunParts extends ChildParts {
  store: ConversationStore
  logs: LogStore
  append: AppendFenced
  recent: Recent
  sandboxes: Sandboxes
  secrets: SecretsService
  live: Live
  kept: Kept
  checkpoints: Checkpoints
  /** The only way of a model to the network. */
  fetch: typeof fetch
  /** The same for pages and MCP servers: follows a few redirects, each checked as the first address was. */
  follow: typeof fetch
  log: (message: string, details?: Record<string, unknown>) => void
}

export interface Opened {
  row: ConversationRow & HeadRow
  log: RunLog
  options: Omit<RunOptions, 'signal' | 'tools'>
  /** The tools of this run. Servers that bring some are waited for, within a bound; how they are is told in the log. */
  equip(): Promise<readonly Tool[]>
  /** The run ended well: what it holds in memory may serve the next one. */
  keep(tools: readonly Tool[]): void
  /** Ends connections that are not kept. */
  letGo(): Promise<void>
}

/** Takes the pen. Undefined when the conversation is gone; rejects with `Fenced` when a newer worker has it. */
export async function open(parts: RunParts, job: Job): Promise<Opened | undefined> {
  const row = await parts.store.forWork(job.key)
  if (row === undefined) return undefined
  const [sealed, values] = await Promise.all([
    sealedConfig(parts.seal, row),
    parts.secrets.values(row.owner_id),
    takePen(parts.logs, row.id, job.epoch),
  ])
  // Written by us when the conversation was made.
  const config = row.config as ConversationConfig
  const secrets = secretsOf(values, sealed)
  const mask = masker([...secrets.said, ...headersOf(secrets), ...keysOf(sealed)])
  const modelFor = (llm: LlmConfig) => openModel(llm, { fetch: parts.fetch, clock: parts.clock })
  const model = modelFor(llmOf(config, sealed))
  const { events, memory, servers: held } = await recalled(parts, row.id)
  const budget = config.max_budget_per_task
  const appendFenced = metered(parts.append, row.metrics, { contextWindow: model.contextWindow, budget })
  const log = logOf(parts, job, { events, mask, appendFenced, streams: sealed.agent?.llm?.stream !== false })
  const equipment = { row, config, sealed, children: childrenOf(parts, { row, config, mask: mask.value }) }
  const handed = await handing(parts, secrets, { mask, log })
  let servers = held
  return {
    row,
    log,
    async equip() {
      servers ??= mcpServersOf(equipment, placeOf(parts, row, handed))
      await servers?.settle()
      const news = serverNews(servers?.statuses() ?? [], events)
      if (news.length > 0) await log.write(news, {})
      return toolsOf(equipment, parts.follow, servers)
    },
    keep(tools) {
      parts.kept.put(row.id, { events, memory, tools, servers })
      servers = null
    },
    letGo: async () => servers?.close(),
    options: {
      log,
      model,
      memory,
      ...policyOf(config, sealed.agent ?? {}, { fetch: parts.fetch, model: modelFor }),
      baseCommit: row.base_commit,
      clock: parts.clock,
      cacheKey: row.id,
      workingDir: row.working_dir,
      secrets: handed,
      mask: mask.text,
      systemSuffix: suffixOf(equipment, parts.sandboxes.warning),
      sinceSeq: row.wanted_seq,
      spentBeside: spentBeside(row.metrics),
      hands: (signal) => hands(parts, row, signal),
    },
  }
}

async function takePen(logs: LogStore, id: string, epoch: number): Promise<void> {
  if (!(await logs.take(id, epoch))) throw new Fenced('a newer worker has the conversation')
}

/** The secrets of the run; what earlier commands were given is known again before it begins, to be hidden. */
async function handing({ clock, fetch }: RunParts, secrets: RunSecrets, { mask, log }: { mask: Masker; log: RunLog }) {
  const tell = (event: NewEvent) => void log.append(event).durable.catch(() => {})
  const handed = handedOut(secrets, { clock, fetch, hide: mask.add, tell })
  await handed.valuesFor(namedBefore(log.events, secrets))
  return handed
}

const placeOf = (parts: RunParts, row: ConversationRow, secrets: RunOptions['secrets']): McpPlace => ({
  hands: (signal) => hands(parts, row, signal),
  workingDir: row.working_dir,
  fetch: parts.follow,
  secretsFor: (text) => secrets.valuesFor(text),
})

interface LogParts {
  events: LogEvent[]
  mask: Masker
  appendFenced: AppendFenced
  /** Whether an answer is shown while it is written. */
  streams: boolean
}

function logOf(parts: RunParts, job: Job, { events, mask, appendFenced, streams }: LogParts): RunLog {
  const shown = maskedDeltas(parts.live, job.key, mask)
  return runLog({
    conversation: job.key,
    epoch: job.epoch,
    store: { after: parts.logs.after, appendFenced },
    clock: parts.clock,
    events,
    mask: mask.value,
    committed: (rows) => {
      parts.recent.add(job.key, rows)
      parts.wake.tell(eventsTopic(job.key))
    },
    publish: streams ? shown : (delta) => delta.kind !== 'StreamingDeltaEvent' && shown(delta),
  })
}

const pausingMs = 30_000
const lookMs = 50

/** A paused sandbox is resumed by the run that needs it; one that is on its way there, once it is there. */
async function hands({ sandboxes }: RunParts, row: ConversationRow, signal: AbortSignal) {
  const id = row.sandbox_id
  const look = async () => (id === null ? undefined : (await sandboxes.statuses([id])).get(id))
  let seen = await look()
  for (const end = performance.now() + pausingMs; seen?.wanted === 'paused' && seen.status !== 'PAUSED';) {
    if (performance.now() > end) break
    await sleep(lookMs, undefined, { signal })
    seen = await look()
  }
  if (id !== null && seen?.status === 'PAUSED') await sandboxes.place({ owner: row.owner_id, sandboxId: id, newId: id })
  // Somebody else who needs it may have begun.
  if (id !== null && (seen?.status === 'PAUSED' || seen?.status === 'STARTING')) await sandboxes.ready(id, signal)
  return sandboxes.hands(row.owner_id, id, signal)
}

/** What the last run left here, brought up to date; from the database alone when it left nothing. */
async function recalled({ kept, logs }: RunParts, id: string) {
  const was = kept.take(id)
  const events: LogEvent[] = was?.events ?? []
  await readOn(logs, id, events)
  const memory: ToolMemory = was?.memory ?? new Map()
  return { events, memory, servers: was?.servers ?? null }
}

/** Counts what the model's calls used, in the very commit that stores them. */
function metered(
  append: AppendFenced,
  before: Usages,
  facts: { contextWindow: number | null; budget: number | null },
): AppendFenced {
  let usages = before
  return (conversation, epoch, events, change: HeadChange = {}) => {
    const calls = events.filter((event) => event.kind === 'LLMCallEvent')
    // Only what this run counts: others count under other ids, at the same time.
    const metrics: Usages = {}
    for (const row of calls) {
      const call = record({ ...row, seq: 0 })
      if (call.kind !== 'LLMCallEvent') continue
      usages = counted(usages, call, facts)
      const mine = usages[call.usage_id]
      if (mine !== undefined) metrics[call.usage_id] = mine
    }
    return append(conversation, epoch, events, calls.length > 0 ? { ...change, metrics } : change)
  }
}
