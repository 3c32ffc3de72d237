import type { AppConversation } from '@parley/contract/conversations'
import { lazy, Suspense, useState } from 'react'
import type { OpenLog } from '../events/log-state.ts'
import { t } from '../i18n/translate.ts'
import type { Tab } from '../tabs.ts'
import { Empty } from '../ui/Empty.tsx'
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
  if (tab === 'changes') return <Changes of={one} />
  if (tab === 'files') return <Files of={one} />
  if (tab === 'app' && one.sandbox_status === 'RUNNING') return <App of={one} />
  return <Empty icon="box" text={t(one.sandbox_status === 'PAUSED' ? 'panel.paused' : 'panel.no-sandbox')} />
}
