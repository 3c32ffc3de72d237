import type { LogEvent } from '@parley/contract/events'
import { eventKinds } from '@parley/contract/events'
import { Link } from '@tanstack/react-router'
import { useVirtualizer } from '@tanstack/react-virtual'
import { type ReactNode, useDeferredValue, useEffect, useMemo, useRef, useState } from 'react'
import { Ansi } from '../events/Ansi.tsx'
import { colouredJson } from '../events/json.ts'
import type { OpenLog } from '../events/log-state.ts'
import { previewOf } from '../events/preview.ts'
import { useLogState } from '../events/use-log.ts'
import { moment } from '../i18n/format.ts'
import { t } from '../i18n/translate.ts'
import { Button } from '../ui/Button.tsx'
import { CopyButton } from '../ui/CopyButton.tsx'
import { Empty } from '../ui/Empty.tsx'
import { visible } from '../ui/visible.ts'

/** The events of this kind in whose JSON all the words are, wherever they stand. */
function matching(events: readonly LogEvent[], kind: string, words: string): readonly LogEvent[] {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean)
  if (kind === '' && wanted.length === 0) return events
  return events.filter((event) => {
    if (kind !== '' && event.kind !== kind) return false
    if (wanted.length === 0) return true
    const text = JSON.stringify(event).toLowerCase()
    return wanted.every((word) => text.includes(word))
  })
}

/** The log as it is stored, with a link to each event by its number. */
export function Events({ id, log, seq }: { id: string; log: OpenLog; seq: number | undefined }) {
  const state = useLogState(log)
  const [kind, setKind] = useState('')
  const [words, setWords] = useState('')
  const asked = useDeferredValue(words)
  const scroller = useRef<HTMLDivElement>(null)
  const events = useMemo(() => matching(state.events, kind, asked), [state.events, kind, asked])
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
    if (seq === undefined || !state.isLoaded || seq >= first) return
    void log.earlier(seq).catch(() => undefined)
  }, [first, log, seq, state.isLoaded])
  // What a link leads to is not let go of while more comes.
  useEffect(() => (seq === undefined ? undefined : log.hold()), [log, seq])
  useEffect(() => {
    if (at >= 0) list.scrollToIndex(at, { align: 'center' })
  }, [at, list])
  return (
    <div className="flex h-full flex-col">
      <Filters kind={kind} onKind={setKind} words={words} onWords={setWords}>
        {first > 1 && (
          <Button kind="quiet" busy={state.isLoadingEarlier} onClick={() => void log.earlier(1).catch(() => undefined)}>
            {t('events.earlier', { count: first - 1 })}
          </Button>
        )}
      </Filters>
      <div
        ref={scroller}
        className="min-h-0 flex-1 overflow-y-auto"
        tabIndex={0}
        role="region"
        aria-label={t('chat.tab.events')}
      >
        {state.isLoaded && events.length === 0 && <Empty icon="pulse" text={t('events.none')} />}
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

interface FiltersProps {
  kind: string
  onKind: (kind: string) => void
  words: string
  onWords: (words: string) => void
  children: ReactNode
}

const Filters = ({ kind, onKind, words, onWords, children }: FiltersProps) => (
  <div className="flex flex-wrap items-center gap-2 border-b border-line px-3 py-1.5">
    <input
      type="search"
      aria-label={t('events.search')}
      placeholder={t('events.search')}
      className="field w-auto min-w-32 flex-1"
      maxLength={200}
      value={words}
      onChange={(event) => onWords(event.target.value)}
    />
    <select
      aria-label={t('events.kind')}
      className="field w-auto max-w-44 chosen"
      value={kind}
      onChange={(event) => onKind(event.target.value)}
    >
      <option value="">{t('events.all-kinds')}</option>
      {eventKinds.map((one) => (
        <option key={one}>{one}</option>
      ))}
    </select>
    {children}
  </div>
)

function Line({ id, event, isOpen }: { id: string; event: LogEvent; isOpen: boolean }) {
  const json = isOpen ? JSON.stringify(event, null, 2) : ''
  return (
    <div>
      <Link
        to="/conversations/$id"
        params={{ id }}
        search={isOpen ? { tab: 'events' } : { tab: 'events', seq: event.seq }}
        aria-expanded={isOpen}
        className="flex min-h-9 items-center gap-2.5 px-3 text-sm hover:bg-panel aria-expanded:bg-tint"
      >
        <span className="w-8 text-right text-xs text-soft tabular-nums">{event.seq}</span>
        <span className="max-w-[50%] truncate font-medium">{visible(event.kind)}</span>
        <span className="min-w-0 flex-1 truncate text-soft">{visible(previewOf(event))}</span>
        <span className="text-xs text-soft max-sm:hidden">{event.source}</span>
        <time className="text-xs text-soft tabular-nums" dateTime={event.timestamp} title={moment(event.timestamp)}>
          {event.timestamp.slice(11, 19)}
        </time>
      </Link>
      {isOpen && (
        <div className="relative border-t border-line bg-panel">
          <div className="absolute top-1 right-3">
            <CopyButton text={json} label={t('events.copy')} />
          </div>
          <Ansi text={colouredJson(json)} />
        </div>
      )}
    </div>
  )
}
