import { useVirtualizer } from '@tanstack/react-virtual'
import { memo, type RefObject, useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react'
import type { Live } from '../events/live.ts'
import type { LogState, OpenLog } from '../events/log-state.ts'
import { AgentText, Message } from '../events/Message.tsx'
import { type Item, textOf, type Turn } from '../events/timeline.ts'
import { ToolCall } from '../events/ToolCall.tsx'
import { compact, dollars, duration } from '../i18n/format.ts'
import { t } from '../i18n/translate.ts'
import { Button } from '../ui/Button.tsx'
import { Icon } from '../ui/Icon.tsx'
import { terminalText, visible } from '../ui/visible.ts'
import { ItemBar, type Own } from './ItemBar.tsx'

type Row = Item | { kind: 'answer'; key: string; text: string; reasoning: string }

/** Rows above the screen at which what is before them is asked for. */
const early = 40

interface TimelineProps {
  items: Item[]
  log: OpenLog
  state: LogState
  /** Null for a reader who may only read. */
  own: Own | null
  isWorking: boolean
  /** Messages that the agent has not read yet, by event id. */
  queued: ReadonlySet<string>
}

/** All that was said and done. Only what is on the screen is in the page; the end is followed until one scrolls away. */
export function Timeline({ items, log, state, own, isWorking, queued }: TimelineProps) {
  const scroller = useRef<HTMLDivElement>(null)
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set())
  const following = useFollowing(scroller)
  const toggle = useCallback(
    (key: string, isOpen: boolean) => {
      // What is opened stays where it is, even when its end is then below the screen.
      following.current = false
      setOpen((before) => new Set(isOpen ? [...before, key] : [...before].filter((one) => one !== key)))
    },
    [following],
  )
  const answers = [...state.lives].filter(([, live]) => live.kind === 'answer')
  const rows: Row[] = [
    ...items,
    ...answers.map(([key, { text, reasoning }]) => ({ kind: 'answer' as const, key, text, reasoning })),
  ]
  const list = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: (index) => heights[rows[index]?.kind ?? 'note'],
    getItemKey: (index) => rows[index]?.key ?? index,
    anchorTo: 'end',
    overscan: 6,
    paddingStart: 16,
    paddingEnd: 16,
  })
  const isAtEnd = list.isAtEnd(80)
  const height = list.getTotalSize()
  useLayoutEffect(() => {
    if (following.current && height > 0) list.scrollToEnd()
  }, [following, height, list])
  const jump = () => {
    following.current = true
    list.scrollToEnd()
  }
  useMore({ log, state, top: list.getVirtualItems()[0]?.index ?? 0, isAtEnd })
  return (
    <div className="relative min-h-0 flex-1">
      <div
        ref={scroller}
        className="h-full overflow-y-auto [overflow-anchor:none]"
        role="log"
        aria-label={t('chat.log')}
        tabIndex={0}
      >
        <div className="relative mx-auto w-full max-w-3xl" style={{ height }}>
          {list.getVirtualItems().map((place) => {
            const row = rows[place.index]
            return (
              <div
                key={place.key}
                data-index={place.index}
                ref={list.measureElement}
                className={`absolute top-0 left-0 w-full px-3 sm:px-4 ${row?.kind === 'tool' ? 'py-[0.1875rem]' : 'py-2'}`}
                style={{ transform: `translateY(${place.start}px)` }}
              >
                {row !== undefined && (
                  <Drawn
                    row={row}
                    own={own}
                    live={row.kind === 'tool' ? state.lives.get(row.action.tool_call_id) : undefined}
                    isWorking={isWorking && row.kind === 'tool' && row.outcome === null}
                    isQueued={queued.has(row.key)}
                    isOpen={open.has(row.key)}
                    onOpen={toggle}
                  />
                )}
              </div>
            )
          })}
        </div>
      </div>
      {!isAtEnd && rows.length > 0 && <Latest onJump={jump} />}
    </div>
  )
}

const Latest = ({ onJump }: { onJump: () => void }) => (
  <Button className="absolute bottom-2 left-1/2 -translate-x-1/2 rounded-full! shadow-md!" onClick={onJump}>
    <Icon name="down" className="size-3" />
    {t('chat.latest')}
  </Button>
)

const heights: Record<Row['kind'], number> = { message: 96, thought: 60, tool: 44, note: 42, turn: 36, answer: 96 }

interface View {
  log: OpenLog
  state: LogState
  /** The first row that is drawn. */
  top: number
  isAtEnd: boolean
}

/** Loads what is before the screen in time, and keeps what is read while one is not at the end. */
function useMore({ log, state, top, isAtEnd }: View): void {
  const first = state.events[0]?.seq
  useEffect(() => {
    if (state.hasEarlier && top < early) void log.earlier().catch(() => undefined)
  }, [top, first, log, state.hasEarlier])
  useEffect(() => (isAtEnd ? undefined : log.hold()), [isAtEnd, log])
}

/** Whether the reader is at the end and wants to stay there: from the beginning, until they scroll back. */
function useFollowing(scroller: RefObject<HTMLDivElement | null>): RefObject<boolean> {
  const following = useRef(true)
  useEffect(() => {
    const element = scroller.current
    let last = 0
    const look = () => {
      if (element === null) return
      const { scrollTop, scrollHeight, clientHeight } = element
      if (scrollHeight - scrollTop - clientHeight < 80) following.current = true
      else if (scrollTop < last) following.current = false
      last = scrollTop
    }
    element?.addEventListener('scroll', look, { passive: true })
    return () => element?.removeEventListener('scroll', look)
  }, [scroller])
  return following
}

interface DrawnProps {
  row: Row
  own: Own | null
  live: Live | undefined
  isWorking: boolean
  isQueued: boolean
  isOpen: boolean
  onOpen: (key: string, isOpen: boolean) => void
}

const noteLook = { calm: 'text-soft', warning: 'bg-warn-tint text-warn', error: 'bg-bad-tint text-bad' }
/** Seen when it is pointed at or reached by key, and always where nothing can be pointed. */
const onDemand = {
  user: 'item-bar',
  agent: 'item-bar absolute -top-3 right-0 rounded-lg border border-line bg-raised px-1',
}

/** A row is drawn again only when it says something else: a stream must not draw all that is on the screen. */
const Drawn = memo(({ row, own, live, isWorking, isQueued, isOpen, onOpen }: DrawnProps) => {
  switch (row.kind) {
    case 'message':
      return (
        <Message from={row.from} content={row.content} isQueued={isQueued}>
          <ItemBar own={own} seq={row.seq} at={row.at} text={textOf(row.content)} className={onDemand[row.from]} />
        </Message>
      )
    case 'thought':
      return (
        <p className="border-l-2 border-line pl-3 text-sm wrap-anywhere whitespace-pre-wrap text-soft">
          {visible(row.text)}
        </p>
      )
    case 'tool':
      return (
        <ToolCall item={row} live={live} isWorking={isWorking} isOpen={isOpen} onOpen={(now) => onOpen(row.key, now)}>
          <ItemBar own={own} seq={row.seq} at={row.action.timestamp} className="px-1.5 py-1" />
        </ToolCall>
      )
    case 'note':
      return (
        <p className={`rounded-lg px-3 py-1.5 text-sm wrap-anywhere whitespace-pre-wrap ${noteLook[row.tone]}`}>
          {terminalText(row.text).replaceAll('\u001b', '')}
        </p>
      )
    case 'turn':
      return <p className="text-xs text-soft tabular-nums">{spent(row)}</p>
    case 'answer':
      return row.text === '' ? (
        <p className="line-clamp-3 text-sm wrap-anywhere text-soft">{visible(row.reasoning.slice(-300)) || '…'}</p>
      ) : (
        <AgentText text={row.text} isWriting />
      )
    default:
      return row satisfies never
  }
})

const spent = ({ ms, tokens, cost }: Turn): string =>
  [
    t('chat.turn', { time: duration(ms) }),
    t('chat.tokens-of', { tokens: compact(tokens) }),
    ...(cost === null ? [] : [dollars(cost)]),
  ].join(' · ')
