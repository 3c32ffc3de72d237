import type { Content, LogEvent } from '@parley/contract/events'
import { lazy, Suspense, useState } from 'react'
import { duration } from '../i18n/format.ts'
import { visible } from '../ui/visible.ts'
import { Ansi } from './Ansi.tsx'
import type { Live } from './live.ts'
import { imagesOf, type Item, type Outcome, textOf } from './timeline.ts'
import { resultOf, titleOf } from './title.ts'

const TextDiff = lazy(() =>
  import('../conversations/TextDiff.tsx').then(({ TextDiff: component }) => ({ default: component })),
)

type Tool = Extract<Item, { kind: 'tool' }>
type Action = Extract<LogEvent, { kind: 'ActionEvent' }>

interface ToolCallProps {
  item: Tool
  live: Live | undefined
  isOpen: boolean
  onOpen: (isOpen: boolean) => void
}

/** A tool call in one line, and all of it when opened. While it runs the end of its output is shown. */
export function ToolCall({ item, live, isOpen, onOpen }: ToolCallProps) {
  const { action, outcome } = item
  const { verb, what } = titleOf(action)
  return (
    <div className="card overflow-hidden bg-panel">
      <button
        type="button"
        aria-expanded={isOpen}
        onClick={() => onOpen(!isOpen)}
        className="flex min-h-10 w-full items-center gap-2 px-3 py-1.5 text-left text-sm hover:bg-tint"
      >
        <span aria-hidden className={`text-soft ${isOpen ? 'rotate-90' : ''}`}>
          ▸
        </span>
        <span className="font-medium">{visible(verb)}</span>
        <code className="min-w-0 flex-1 truncate text-[0.8125rem]">{visible(what.split('\n')[0] ?? '')}</code>
        <Result action={action} outcome={outcome} isLive={live !== undefined} />
      </button>
      {isOpen && <Details action={action} outcome={outcome} live={live} />}
      {!isOpen && live !== undefined && live.text !== '' && (
        <div className="max-h-40 overflow-hidden border-t border-line">
          <Ansi text={live.text.split('\n').slice(-8).join('\n')} />
        </div>
      )}
    </div>
  )
}

function Result({ action, outcome, isLive }: { action: Action; outcome: Outcome | null; isLive: boolean }) {
  const result = resultOf(outcome)
  if (outcome === null || result === null) return <span className="text-accent">{isLive ? 'runs' : 'waits'}</span>
  return (
    <>
      <span className={result.isBad ? 'text-bad' : 'text-soft'}>{result.text}</span>
      <span className="whitespace-nowrap text-soft">
        {duration(Date.parse(outcome.timestamp) - Date.parse(action.timestamp))}
      </span>
    </>
  )
}

function Details({ action, outcome, live }: { action: Action; outcome: Outcome | null; live: Live | undefined }) {
  return (
    <div className="divide-y divide-line border-t border-line">
      <Asked action={action} />
      {outcome !== null ? <Answered outcome={outcome} /> : live !== undefined && <Ansi text={live.text} />}
    </div>
  )
}

const word = (value: unknown): string | null => (typeof value === 'string' ? value : null)

function Asked({ action: { action, tool_call } }: { action: Action }) {
  if (action?.kind === 'TerminalAction') return <Ansi text={`$ ${word(action['command']) ?? ''}`} />
  const before = word(action?.['old_str']) ?? ''
  const after = word(action?.['new_str']) ?? word(action?.['file_text'])
  if (action?.kind === 'FileEditorAction' && after !== null)
    return (
      <Suspense fallback={<Ansi text={after} />}>
        <TextDiff path={word(action['path']) ?? ''} original={before} modified={after} isSplit={false} />
      </Suspense>
    )
  return <Ansi text={pretty(tool_call.arguments)} />
}

function pretty(json: string): string {
  try {
    return JSON.stringify(JSON.parse(json), null, 2)
  } catch {
    return json
  }
}

const shortest = 20_000

function Answered({ outcome }: { outcome: Outcome }) {
  const [isWhole, setWhole] = useState(false)
  if (outcome.kind === 'UserRejectObservation') return <Ansi text={outcome.rejection_reason} />
  if (outcome.kind === 'AgentErrorEvent') return <Ansi text={outcome.error} />
  const content: readonly Content[] = outcome.observation.content
  const text = textOf(content)
  return (
    <div>
      <Ansi text={isWhole ? text : text.slice(0, shortest)} />
      {text.length > shortest && !isWhole && (
        <button type="button" className="px-3 py-2 text-sm text-accent underline" onClick={() => setWhole(true)}>
          Show all {text.length.toLocaleString()} characters
        </button>
      )}
      {imagesOf(content).map((address) =>
        /^data:image\/(png|jpeg|gif|webp);base64,/.test(address) ? (
          <img key={address} src={address} alt="What the tool saw" className="max-h-96 max-w-full p-3" />
        ) : null,
      )}
    </div>
  )
}
