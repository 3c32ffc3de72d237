import type { Clock } from '@parley/store/clock'
import type { Database } from '@parley/store/database'
import type { Jobs } from '@parley/store/jobs'
import type { Cursor } from '@parley/store/page'
import type { Seal } from '@parley/store/seal'
import type { Outbound } from '@parley/wire/outbound'
import type { Config } from '../config.ts'
import { logStore } from '../conversations/log/store.ts'
import type { Conversations } from '../conversations/service.ts'
import { conversationStore } from '../conversations/store.ts'
import { eventsTopic, inboxTopic } from '../conversations/topics.ts'
import type { Git } from '../git/service.ts'
import type { Log } from '../log.ts'
import { processJob, processJobKind, watchLogs } from '../processors/service.ts'
import { processorStore } from '../processors/store.ts'
import type { SecretsService } from '../secrets/service.ts'
import type { HeardWake } from '../stirs.ts'
import { deliverJob, deliverJobKind, followSubscriptions } from '../webhooks/deliver.ts'
import { reportStore } from '../webhooks/report-store.ts'
import { reportService } from '../webhooks/report.ts'
import { webhookService } from '../webhooks/service.ts'
import { signer } from '../webhooks/sign.ts'
import { webhookStore } from '../webhooks/store.ts'
import { forgeTokens } from '../webhooks/token.ts'

interface Parts {
  config: Config
  database: Database
  wake: HeardWake
  jobs: Jobs
  seal: Seal
  clock: Clock
  cursor: Cursor
  way: Outbound
  git: Git
  secrets: SecretsService
  conversations: Conversations
  log: Log
  said: (message: string, details?: Record<string, unknown>) => void
}

/** What follows the logs of conversations, to processors and to subscribers; and what other agent servers report. */
export function openOutgoing(parts: Parts) {
  const { config, database, wake, jobs, seal, clock, cursor, way, git, secrets, conversations, log, said } = parts
  const processorRows = processorStore(database)
  const webhookRows = webhookStore(database)
  const sign = signer({ seal, clock })
  if (config.role !== 'api') {
    const note = (message: string, details: Record<string, unknown>) => log.info(details, message)
    const model = { seal, clock, fetch: way.fetch as typeof fetch }
    jobs.register(processJob, processJobKind({ ...model, store: processorRows, git, log: said, note }))
    jobs.register(deliverJob, deliverJobKind({ store: webhookRows, sign, clock, fetch: way.fetch }))
  }
  const reading = watchLogs({ store: processorRows, jobs, database, heard: wake.heard, log: said })
  const following = followSubscriptions({ store: webhookRows, jobs, database, heard: wake.heard, log: said })
  const reported = reportStore(database)
  const make: Parameters<typeof reportService>[0]['make'] = (tx, row) => conversationStore(tx).insert(row)
  const tell = (conversation: string) => {
    wake.tell(inboxTopic(conversation))
    wake.tell(eventsTopic(conversation))
  }
  const poke = () => database.afterCommit(following.poke)
  return {
    reports: reportService({ store: reported, secrets, clock, logOf: logStore, make, tell }),
    tokens: forgeTokens({ store: reported, git }),
    webhooks: webhookService({ store: webhookRows, conversations, sign, clock, cursor, poke }),
    stop: async (): Promise<void> => void (await Promise.all([reading.stop(), following.stop()])),
  }
}
