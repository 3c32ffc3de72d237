import type { Database } from '@parley/store/database'
import { logStore } from '../conversations/log/store.ts'
import { conversationStore } from '../conversations/store.ts'
import { subjectStore } from '../conversations/subject-store.ts'
import { eventsTopic, inboxTopic } from '../conversations/topics.ts'
import { processJob, processJobKind, watchLogs } from '../processors/service.ts'
import { processorStore } from '../processors/store.ts'
import { deliverJob, deliverJobKind, followSubscriptions } from '../webhooks/deliver.ts'
import { reportStore } from '../webhooks/report-store.ts'
import { reportService } from '../webhooks/report.ts'
import { webhookRoutes } from '../webhooks/routes.ts'
import { webhookService } from '../webhooks/service.ts'
import { signer } from '../webhooks/sign.ts'
import { webhookStore } from '../webhooks/store.ts'
import { forgeTokens } from '../webhooks/token.ts'
import type { Belongings } from './belongings.ts'
import type { Brain } from './brain.ts'
import type { Foundation } from './foundation.ts'

type Parts = Foundation & Pick<Belongings, 'git' | 'secrets'> & Pick<Brain, 'conversations'>

/** What follows the logs of conversations, to processors and to subscribers; and what other agent servers report. */
export function openOutgoing(parts: Parts) {
  const { config, database, wake, jobs, seal, clock, cursor, way, fetch, git, secrets, conversations, log, said } =
    parts
  const processorRows = processorStore(database)
  const webhookRows = webhookStore(database)
  const sign = signer({ seal, clock })
  const within = (db: Database) => ({ subjects: subjectStore(db), logs: logStore(db) })
  const { subjects, logs } = within(database)
  if (config.role !== 'api') {
    const note = (message: string, details: Record<string, unknown>) => log.info(details, message)
    const model = { seal, clock, fetch }
    jobs.register(
      processJob,
      processJobKind({ ...model, store: processorRows, subjects, logs, within, git, log: said, note }),
    )
    jobs.register(deliverJob, deliverJobKind({ store: webhookRows, logs, sign, clock, fetch: way.fetch }))
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
  const reports = reportService({ store: reported, secrets, clock, within, make, tell })
  const webhooks = webhookService({ store: webhookRows, conversations, sign, way, clock, cursor, poke })
  return {
    routes: () => webhookRoutes(reports, forgeTokens({ subjects, reports: reported, git }), webhooks),
    stop: async (): Promise<void> => void (await Promise.all([reading.stop(), following.stop()])),
  }
}
