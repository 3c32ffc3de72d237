import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useMemo } from 'react'
import { client } from '../api.ts'
import { openSharedLog } from '../events/shared-log.ts'
import { timelineOf } from '../events/timeline.ts'
import { useLogState } from '../events/use-log.ts'
import { t } from '../i18n/translate.ts'
import { ErrorNote } from '../ui/ErrorNote.tsx'
import { Loading } from '../ui/Loading.tsx'
import { useTitle } from '../ui/Page.tsx'
import { Time } from '../ui/Time.tsx'
import { visible } from '../ui/visible.ts'
import { Timeline } from './Timeline.tsx'

const route = getRouteApi('/shared/$id')

/** A conversation as strangers see it while its owner lets them: to read, and nothing else. */
export function Shared() {
  const { id } = route.useParams()
  const found = useQuery({
    queryKey: ['shared', id],
    queryFn: async () => (await client.shared.conversations({ query: { ids: [id] } }))[0] ?? null,
  })
  const title = found.data?.title ?? t('ui.untitled')
  useTitle(visible(title))
  return (
    <div className="flex h-full flex-col">
      <header className="flex flex-wrap items-center gap-x-3 gap-y-1 border-b border-line px-4 py-2">
        <Link to="/" aria-label={t('shell.start')}>
          <img src="/favicon.svg" alt="" className="size-6" />
        </Link>
        <h1 className="min-w-40 flex-1 truncate font-semibold">
          {found.data === null ? t('shared.gone') : visible(title)}
        </h1>
        <p className="text-sm text-soft">{t('shared.by')}</p>
        {found.data && (
          <span className="text-sm text-soft">
            <Time at={found.data.created_at} />
          </span>
        )}
      </header>
      <main className="flex min-h-0 flex-1 flex-col">
        {found.isLoading && <Loading />}
        <ErrorNote error={found.error} />
        {found.data === null && <p className="p-4 text-soft">{t('shared.gone.about')}</p>}
        {found.data && <Log key={id} id={id} />}
      </main>
    </div>
  )
}

const none: ReadonlySet<string> = new Set()

function Log({ id }: { id: string }) {
  const log = useMemo(() => openSharedLog(id), [id])
  const state = useLogState(log)
  const items = useMemo(() => timelineOf(state.events), [state.events])
  if (!state.isLoaded) return <Loading />
  if (state.error !== null) return <ErrorNote error={state.error} />
  if (items.length === 0) return <p className="p-4 text-soft">{t('shared.empty')}</p>
  return <Timeline items={items} log={log} state={state} own={null} isWorking={false} queued={none} />
}
