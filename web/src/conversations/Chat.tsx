import type { AppConversation } from '@parley/contract/conversations'
import { useMemo, useState } from 'react'
import type { OpenLog } from '../events/log-state.ts'
import { pendingCalls, queuedMessages, statusIn, timelineOf } from '../events/timeline.ts'
import { useLogState } from '../events/use-log.ts'
import { ErrorNote } from '../ui/ErrorNote.tsx'
import { Aside } from './Aside.tsx'
import { Confirm } from './Confirm.tsx'
import { Fork } from './Fork.tsx'
import type { Own } from './ItemBar.tsx'
import { Lost } from './Lost.tsx'
import { Reply } from './Reply.tsx'
import { Timeline } from './Timeline.tsx'
import { Waits } from './Waits.tsx'

const none: ReadonlySet<string> = new Set()

/** The conversation itself, and below it the place to answer. */
export function Chat({ of: one, log }: { of: AppConversation; log: OpenLog }) {
  const state = useLogState(log)
  const items = useMemo(() => timelineOf(state.events), [state.events])
  const isWorking = one.execution_status === 'running'
  const queued = useMemo(() => (isWorking ? queuedMessages(state.events) : none), [isWorking, state.events])
  const [forkAt, setForkAt] = useState<number | null>(null)
  const own: Own = useMemo(() => ({ id: one.id, fork: setForkAt }), [one.id])
  // By the log, which also says which calls are answered: between two sources one could be asked what is decided already.
  const asks = (statusIn(state.events) ?? one.execution_status) === 'waiting_for_confirmation'
  return (
    <div className="flex h-full flex-col">
      {state.lostAt !== null && <Lost since={state.lostAt} />}
      <ErrorNote error={state.error} />
      <Timeline items={items} log={log} state={state} own={own} isWorking={isWorking} queued={queued} />
      <div className="mx-auto w-full max-w-3xl px-3 pb-3 sm:px-4">
        <Confirm id={one.id} calls={pendingCalls(items)} isAsked={asks} />
        {!asks && <Waits of={one} />}
        <Aside of={one.id} />
        <Reply of={one} events={state.events} />
      </div>
      {forkAt !== null && <Fork of={one} seq={forkAt} onClose={() => setForkAt(null)} />}
    </div>
  )
}
