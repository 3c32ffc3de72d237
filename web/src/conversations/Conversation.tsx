import { Problem } from '@parley/contract/problems'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { client, queries } from '../api.ts'
import type { OpenLog } from '../events/log-state.ts'
import { openLog } from '../events/log.ts'
import { t } from '../i18n/translate.ts'
import { NotHere } from '../shell/NotHere.tsx'
import { ErrorNote } from '../ui/ErrorNote.tsx'
import { Loading } from '../ui/Loading.tsx'
import { useTitle } from '../ui/Page.tsx'
import { visible } from '../ui/visible.ts'
import { Chat } from './Chat.tsx'
import { Header } from './Header.tsx'
import { Panel } from './Panel.tsx'

const route = getRouteApi('/inside/conversations/$id')

/** One conversation: what is said and done, and beside it what came of it. */
export function Conversation() {
  const { id } = route.useParams()
  return <Opened key={id} id={id} />
}

function Opened({ id }: { id: string }) {
  const { tab, seq } = route.useSearch()
  const log = useLog(id)
  const found = useQuery({
    queryKey: ['conversation', id],
    queryFn: () => client.conversations.get({ params: { id } }),
    refetchInterval: ({ state }) => (state.data?.execution_status === 'running' ? 2000 : 10_000),
  })
  useTitle(visible(found.data?.title ?? t('ui.untitled')))
  if (found.error instanceof Problem && found.error.code === 'not_found') return <NotHere />
  if (found.data === undefined || log === null)
    return found.error === null ? <Loading /> : <ErrorNote error={found.error} />
  return (
    <div className="flex h-full flex-col">
      <Header of={found.data} tab={tab} />
      <div className="flex min-h-0 flex-1">
        <div className={`min-w-0 flex-1 ${tab === undefined ? '' : 'hidden lg:block'}`}>
          <Chat of={found.data} log={log} />
        </div>
        {tab !== undefined && (
          <div className="min-w-0 flex-1 overflow-y-auto border-line lg:border-l">
            <Panel of={found.data} log={log} tab={tab} seq={seq} />
          </div>
        )}
      </div>
    </div>
  )
}

/** The log, followed as long as the page shows it. A new status makes the page ask for the conversation again. */
function useLog(id: string): OpenLog | null {
  const [log, setLog] = useState<OpenLog | null>(null)
  useEffect(() => {
    const stop = new AbortController()
    const open = openLog(id, stop.signal)
    let seen = 0
    const off = open.subscribe(() => {
      const fresh = open.state().events.filter((event) => event.seq > seen)
      seen = open.state().events.at(-1)?.seq ?? seen
      if (fresh.some(({ kind }) => kind === 'ConversationStateUpdateEvent' || kind === 'LLMCallEvent'))
        void queries.invalidateQueries({ queryKey: ['conversation', id] })
    })
    setLog(open)
    return () => {
      off()
      stop.abort()
    }
  }, [id])
  return log
}
