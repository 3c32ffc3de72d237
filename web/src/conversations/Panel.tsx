import type { AppConversation } from '@parley/contract/conversations'
import type { OpenLog } from '../events/log-state.ts'
import type { Tab } from '../tabs.ts'
import { Changes } from './Changes.tsx'
import { Events } from './Events.tsx'
import { Files } from './Files.tsx'

interface PanelProps {
  of: AppConversation
  log: OpenLog
  tab: Tab
  seq: number | undefined
}

export function Panel({ of: one, log, tab, seq }: PanelProps) {
  if (tab === 'events') return <Events id={one.id} log={log} seq={seq} />
  if (one.sandbox_status !== 'RUNNING')
    return (
      <p className="p-4 text-soft">
        {one.sandbox_status === 'PAUSED'
          ? 'The sandbox is paused. Its files can be seen when it runs again: write a message or press Resume.'
          : 'There is no running sandbox to look into.'}
      </p>
    )
  return tab === 'changes' ? <Changes of={one} /> : <Files id={one.id} />
}
