import { useVirtualizer } from '@tanstack/react-virtual'
import { memo, useCallback, useEffect, useRef, useState } from 'react'
import type { Live } from '../events/live.ts'
import type { LogState, OpenLog } from '../events/log.ts'
import { AgentText, Message } from '../events/Message.tsx'
import type { Item } from '../events/timeline.ts'
import { ToolCall } from '../events/ToolCall.tsx'
import { duration } from '../i18n/format.ts'
import { Button } from '../ui/Button.tsx'
import { terminalText } from '../ui/visible.ts'

type Row = Item | { kind: 'answer'; key: string; text: string; reasoning: string }

/** Rows above the screen at which what is before them is asked for. */
const early = 40

/** All that was said and done. Only what is on the screen is in the page; the end is followed until one scrolls away. */
export function Timeline({ items, log, state }: { items: Item[]; log: OpenLog; state: LogState }) {
  const scroller = useRef<HTMLDivElement>(null)
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set())
  const toggle = useCallback(
    (key: string, isOpen: boolean) =>
      setOpen((before) => new Set(isOpen ? [...before, key] : [...before].filter((one) => one !== key))),
    [],
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
    followOnAppend: true,
    overscan: 6,
    paddingStart: 16,
    paddingEnd: 16,
  })
  const isAtEnd = list.isAtEnd(80)
  useFirstEnd(state.isLoaded && rows.length > 0, () => list.scrollToEnd())
  const first = state.events[0]?.seq ?? 1
  const top = list.getVirtualItems()[0]?.index ?? 0
  useEffect(() => {
    if (state.isLoaded && first > 1 && top < early) void log.earlier().catch(() => undefined)
  }, [top, first, log, state.isLoaded])
  useEffect(() => (isAtEnd ? undefined : log.hold()), [isAtEnd, log])
  return (
    <div className="relative min-h-0 flex-1">
      <div
        ref={scroller}
        className="h-full overflow-y-auto [overflow-anchor:none]"
        role="log"
        aria-label="Conversation"
        tabIndex={0}
      >
        <div className="relative mx-auto w-full max-w-3xl" style={{ height: list.getTotalSize() }}>
          {list.getVirtualItems().map((place) => {
            const row = rows[place.index]
            return (
              <div
                key={place.key}
                data-index={place.index}
                ref={list.measureElement}
                className="absolute top-0 left-0 w-full px-3 py-1.5 sm:px-4"
                style={{ transform: `translateY(${place.start}px)` }}
              >
                {row !== undefined && (
                  <Drawn
                    row={row}
                    live={row.kind === 'tool' ? state.lives.get(row.action.tool_call_id) : undefined}
                    isOpen={open.has(row.key)}
                    onOpen={toggle}
                  />
                )}
              </div>
            )
          })}
        </div>
      </div>
      {!isAtEnd && rows.length > 0 && (
        <Button className="absolute bottom-2 left-1/2 -translate-x-1/2 shadow" onClick={() => list.scrollToEnd()}>
          Jump to latest
        </Button>
      )}
    </div>
  )
}

const heights: Record<Row['kind'], number> = { message: 96, thought: 60, tool: 54, note: 42, turn: 36, answer: 96 }

/** Once, when there is something to show. */
function useFirstEnd(isReady: boolean, act: () => void): void {
  const isDone = useRef(false)
  useEffect(() => {
    if (!isReady || isDone.current) return
    isDone.current = true
    act()
  })
}

interface DrawnProps {
  row: Row
  live: Live | undefined
  isOpen: boolean
  onOpen: (key: string, isOpen: boolean) => void
}

const noteLook = { calm: 'text-soft', warning: 'bg-warn-tint text-warn', error: 'bg-bad-tint text-bad' }

/** A row is drawn again only when it says something else: a stream must not draw all that is on the screen. */
const Drawn = memo(({ row, live, isOpen, onOpen }: DrawnProps) => {
  switch (row.kind) {
    case 'message':
      return <Message from={row.from} content={row.content} />
    case 'thought':
      return (
        <p className="border-l-2 border-line pl-3 text-sm wrap-anywhere whitespace-pre-wrap text-soft">{row.text}</p>
      )
    case 'tool':
      return <ToolCall item={row} live={live} isOpen={isOpen} onOpen={(now) => onOpen(row.key, now)} />
    case 'note':
      return (
        <p className={`rounded-lg px-3 py-1.5 text-sm wrap-anywhere whitespace-pre-wrap ${noteLook[row.tone]}`}>
          {terminalText(row.text).replaceAll('\u001b', '')}
        </p>
      )
    case 'turn':
      return <p className="text-xs text-soft">{duration(row.ms)}</p>
    case 'answer':
      return row.text === '' ? (
        <p className="line-clamp-3 text-sm text-soft">{row.reasoning.slice(-300) || '…'}</p>
      ) : (
        <AgentText text={row.text} isWriting />
      )
    default:
      return row satisfies never
  }
})
