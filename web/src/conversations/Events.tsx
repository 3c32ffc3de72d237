import type { LogEvent } from '@parley/contract/events'
import { eventKinds } from '@parley/contract/events'
import { Link } from '@tanstack/react-router'
import { useVirtualizer } from '@tanstack/react-virtual'
import { useEffect, useRef, useState } from 'react'
import type { OpenLog } from '../events/log-state.ts'
import { useLogState } from '../events/use-log.ts'
import { Button } from '../ui/Button.tsx'
import { CopyButton } from '../ui/CopyButton.tsx'
import { visible } from '../ui/visible.ts'

/** The log as it is stored, with a link to each event by its number. */
export function Events({ id, log, seq }: { id: string; log: OpenLog; seq: number | undefined }) {
  const state = useLogState(log)
  const [kind, setKind] = useState('')
  const scroller = useRef<HTMLDivElement>(null)
  const events = kind === '' ? state.events : state.events.filter((event) => event.kind === kind)
  const first = state.events[0]?.seq ?? 1
  const list = useVirtualizer({
    count: events.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => 37,
    getItemKey: (index) => events[index]?.seq ?? index,
    overscan: 12,
  })
  const at = seq === undefined ? -1 : events.findIndex((event) => event.seq === seq)
  useEffect(() => {
    if (seq !== undefined && state.isLoaded && seq < first) void log.earlier(seq).catch(() => undefined)
  }, [first, log, seq, state.isLoaded])
  useEffect(() => {
    if (at >= 0) list.scrollToIndex(at, { align: 'center' })
  }, [at, list])
  return (
    <div className="flex h-full flex-col">
      <div className="flex flex-wrap items-center gap-2 border-b border-line p-2">
        <select
          aria-label="Kind"
          className="field w-auto"
          value={kind}
          onChange={(event) => setKind(event.target.value)}
        >
          <option value="">All kinds</option>
          {eventKinds.map((one) => (
            <option key={one}>{one}</option>
          ))}
        </select>
        {first > 1 && (
          <Button kind="quiet" busy={state.isLoadingEarlier} onClick={() => void log.earlier(1).catch(() => undefined)}>
            Load {first - 1} earlier
          </Button>
        )}
      </div>
      <div ref={scroller} className="min-h-0 flex-1 overflow-y-auto" tabIndex={0} role="region" aria-label="Events">
        <div className="relative" style={{ height: list.getTotalSize() }}>
          {list.getVirtualItems().map((place) => {
            const event = events[place.index]
            return (
              <div
                key={place.key}
                data-index={place.index}
                ref={list.measureElement}
                className="absolute top-0 left-0 w-full border-b border-line"
                style={{ transform: `translateY(${place.start}px)` }}
              >
                {event !== undefined && <Line id={id} event={event} isOpen={event.seq === seq} />}
              </div>
            )
          })}
        </div>
      </div>
    </div>
  )
}

function Line({ id, event, isOpen }: { id: string; event: LogEvent; isOpen: boolean }) {
  const json = isOpen ? JSON.stringify(event, null, 2) : ''
  return (
    <div>
      <Link
        to="/conversations/$id"
        params={{ id }}
        search={isOpen ? { tab: 'events' } : { tab: 'events', seq: event.seq }}
        aria-expanded={isOpen}
        className="flex min-h-9 items-center gap-3 px-3 text-sm hover:bg-panel"
      >
        <span className="w-10 text-right text-soft tabular-nums">{event.seq}</span>
        <span className="min-w-0 flex-1 truncate">{visible(event.kind)}</span>
        <span className="text-soft">{event.source}</span>
        <time className="text-soft tabular-nums" dateTime={event.timestamp}>
          {event.timestamp.slice(11, 19)}
        </time>
      </Link>
      {isOpen && (
        <div className="bg-panel">
          <div className="flex justify-end">
            <CopyButton text={json} label="Copy JSON" />
          </div>
          <pre className="px-3 pb-3 text-xs wrap-anywhere whitespace-pre-wrap">{visible(json)}</pre>
        </div>
      )}
    </div>
  )
}
