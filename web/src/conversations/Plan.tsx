import type { AppConversation } from '@parley/contract/conversations'
import type { LogEvent } from '@parley/contract/events'
import { Problem } from '@parley/contract/problems'
import { useQuery } from '@tanstack/react-query'
import { client } from '../api.ts'
import type { OpenLog } from '../events/log-state.ts'
import { AgentText } from '../events/Message.tsx'
import { plannedTasks, type Task } from '../events/tasks.ts'
import { useLogState } from '../events/use-log.ts'
import { t } from '../i18n/translate.ts'
import { Empty } from '../ui/Empty.tsx'
import { ErrorNote } from '../ui/ErrorNote.tsx'
import { Loading } from '../ui/Loading.tsx'
import { visible } from '../ui/visible.ts'

/** The list of tasks that the agent keeps, and the plan it has written. */
export function Plan({ of: one, log }: { of: AppConversation; log: OpenLog }) {
  const { events, hasEarlier } = useLogState(log)
  const known = plannedTasks(events)
  const older = useQuery({
    queryKey: ['tasks', one.id],
    queryFn: async () => {
      const query = { kind__eq: 'ObservationEvent', sort_order: 'TIMESTAMP_DESC', limit: 100 } as const
      const { items } = await client.events.search({ params: { id: one.id }, query })
      return plannedTasks((items as unknown as LogEvent[]).toReversed())
    },
    enabled: known === null && hasEarlier,
  })
  const written = useQuery({
    queryKey: ['plan', one.id, one.last_seq],
    queryFn: () => client.conversations.readFile({ params: { id: one.id } }).catch(noPlan),
    enabled: one.sandbox_status === 'RUNNING',
    placeholderData: (last) => last,
  })
  const tasks = known ?? older.data ?? []
  const isEmpty = tasks.length === 0 && (written.data ?? null) === null
  if (isEmpty && (older.isLoading || written.isLoading)) return <Loading />
  return (
    <div className="p-4">
      <ErrorNote error={written.error ?? older.error} />
      {isEmpty && <Empty icon="list" text={t('plan.none')} />}
      {tasks.length > 0 && <Tasks tasks={tasks} />}
      {written.data && (
        <section aria-label="PLAN.md">
          <AgentText text={written.data} />
        </section>
      )}
    </div>
  )
}

/** Most conversations have none, which is no failure. */
function noPlan(error: unknown): null {
  if (error instanceof Problem && error.code === 'not_found') return null
  throw error
}

const marks = {
  todo: ['○', 'text-soft'],
  in_progress: ['●', 'text-accent'],
  done: ['✓', 'text-good'],
} as const

function Tasks({ tasks }: { tasks: readonly Task[] }) {
  return (
    <section aria-label={t('plan.tasks')} className="mb-6">
      <h2 className="mb-2 text-sm font-semibold text-soft">
        {t('plan.tasks')} ·{' '}
        {t('tool.plan-of', { done: tasks.filter(({ status }) => status === 'done').length, all: tasks.length })}
      </h2>
      <ul className="card divide-y divide-line">
        {tasks.map(({ title, notes, status }, index) => (
          // A list has no names but its places.
          <li key={index} className="flex gap-3 px-4 py-2.5">
            <span className={`w-4 text-center ${marks[status][1]}`}>
              <span aria-hidden>{marks[status][0]}</span>
              <span className="sr-only">{t(`plan.${status}`)}</span>
            </span>
            <span className="min-w-0">
              <span className={`block wrap-anywhere ${status === 'done' ? 'text-soft line-through' : ''}`}>
                {visible(title)}
              </span>
              {notes !== '' && <span className="block text-sm wrap-anywhere text-soft">{visible(notes)}</span>}
            </span>
          </li>
        ))}
      </ul>
    </section>
  )
}
