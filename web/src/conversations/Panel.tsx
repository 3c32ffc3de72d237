import type { AppConversation } from '@parley/contract/conversations'
import { lazy, Suspense, useState } from 'react'
import type { OpenLog } from '../events/log-state.ts'
import { t } from '../i18n/translate.ts'
import type { Tab } from '../tabs.ts'
import { Loading } from '../ui/Loading.tsx'
import { App } from './App.tsx'
import { Changes } from './Changes.tsx'
import { Events } from './Events.tsx'
import { Files } from './Files.tsx'
import { Plan } from './Plan.tsx'

const Terminal = lazy(() =>
  import('../terminal/Terminal.tsx').then(({ Terminal: component }) => ({ default: component })),
)

interface PanelProps {
  of: AppConversation
  log: OpenLog
  tab: Tab
  seq: number | undefined
}

/** What is shown beside the chat. A terminal that was opened stays open behind the other parts. */
export function Panel(props: PanelProps) {
  const { tab, of: one } = props
  const [hasTerminal, setHasTerminal] = useState(false)
  if (tab === 'terminal' && !hasTerminal) setHasTerminal(true)
  const isRunning = one.sandbox_status === 'RUNNING'
  return (
    <>
      {hasTerminal && isRunning && (
        <div className="h-full" hidden={tab !== 'terminal'}>
          <Suspense fallback={<Loading />}>
            <Terminal id={one.id} />
          </Suspense>
        </div>
      )}
      {!(tab === 'terminal' && isRunning) && <Part {...props} />}
    </>
  )
}

function Part({ of: one, log, tab, seq }: PanelProps) {
  if (tab === 'events') return <Events id={one.id} log={log} seq={seq} />
  if (tab === 'plan') return <Plan of={one} log={log} />
  if (one.sandbox_status !== 'RUNNING')
    return <p className="p-4 text-soft">{t(one.sandbox_status === 'PAUSED' ? 'panel.paused' : 'panel.no-sandbox')}</p>
  if (tab === 'app') return <App of={one} />
  return tab === 'changes' ? <Changes of={one} /> : <Files id={one.id} />
}
