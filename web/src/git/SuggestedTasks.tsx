import type { StartRequestInput } from '@parley/contract/start-request'
import { useQuery } from '@tanstack/react-query'
import { client } from '../api.ts'
import { t } from '../i18n/translate.ts'
import { visible } from '../ui/visible.ts'

/** Work that the connected hosts offer; choosing one starts it. Nothing is shown where there is none. */
export function SuggestedTasks({ onPick }: { onPick: (request: StartRequestInput) => void }) {
  const found = useQuery({
    queryKey: ['git', 'suggested'],
    queryFn: () => client.git.suggestedTasks({ query: { limit: 30 } }),
    staleTime: 60_000,
  })
  const tasks = (found.data?.items ?? []).filter((task) => task.task_type !== 'OPEN_PR').slice(0, 5)
  if (tasks.length === 0) return null
  return (
    <section aria-label={t('git.suggested.label')} className="mt-8">
      <h2 className="mb-2 text-sm font-semibold text-soft">{t('git.suggested')}</h2>
      <ul className="card divide-y divide-line">
        {tasks.map((task) => (
          <li key={`${task.repo} ${task.issue_number} ${task.task_type}`}>
            <button
              type="button"
              className="flex w-full flex-wrap items-baseline gap-x-2 px-4 py-2.5 text-left hover:bg-panel"
              onClick={() =>
                onPick({
                  suggested_task: task,
                  selected_repository: task.repo,
                  git_provider: task.git_provider,
                  trigger: 'suggested_task',
                })
              }
            >
              <span className="font-medium">{t(`task.${task.task_type}`)}</span>
              <span className="min-w-0 truncate">{visible(task.title)}</span>
              <span className="ml-auto text-sm text-soft">
                {task.repo} #{task.issue_number}
              </span>
            </button>
          </li>
        ))}
      </ul>
    </section>
  )
}
