import type { Content, LogEvent } from '@parley/contract/events'
import { lazy, type ReactNode, Suspense, useState } from 'react'
import { duration } from '../i18n/format.ts'
import { t } from '../i18n/translate.ts'
import { Elapsed } from '../ui/Elapsed.tsx'
import { Icon } from '../ui/Icon.tsx'
import { visible } from '../ui/visible.ts'
import { Ansi } from './Ansi.tsx'
import { colouredJson, pretty } from './json.ts'
import type { Live } from './live.ts'
import { imagesOf, type Outcome, textOf, type Tool } from './timeline.ts'
import { iconOf, resultOf, titleOf } from './title.ts'

const TextDiff = lazy(() =>
  import('../conversations/TextDiff.tsx').then(({ TextDiff: component }) => ({ default: component })),
)

type Action = Extract<LogEvent, { kind: 'ActionEvent' }>

interface ToolCallProps {
  item: Tool
  live: Live | undefined
  /** Whether the agent is at work: a call without a result runs then, and waits otherwise. */
  isWorking: boolean
  isOpen: boolean
  onOpen: (isOpen: boolean) => void
  /** Below all that it says. */
  children: ReactNode
}

/** A tool call in one line, and all of it when opened. While it runs the end of its output is shown. */
export function ToolCall({ item, live, isWorking, isOpen, onOpen, children }: ToolCallProps) {
  const { action, outcome } = item
  const { verb, what } = titleOf(action)
  return (
    <div className="overflow-hidden rounded-lg border border-line bg-raised">
      <button
        type="button"
        aria-expanded={isOpen}
        onClick={() => onOpen(!isOpen)}
        className="flex min-h-9 w-full items-center gap-2 px-2.5 py-1 text-left text-sm hover:bg-panel"
      >
        <Icon name={isOpen ? 'down' : 'right'} className="size-3 text-soft" />
        <Icon name={iconOf(action)} className="size-4 text-soft" />
        <span className={`font-medium whitespace-nowrap ${verb === '$' ? 'sr-only' : ''}`}>{visible(verb)}</span>
        <code className="min-w-0 flex-1 truncate text-[0.8125rem]">{visible(what.split('\n')[0] ?? '')}</code>
        <Result action={action} outcome={outcome} isLive={isWorking || live !== undefined} />
      </button>
      {isOpen && (
        <div className="divide-y divide-line border-t border-line bg-panel">
          <Asked action={action} />
          {outcome !== null ? <Answered outcome={outcome} /> : live !== undefined && <Ansi text={live.text} />}
          {children}
        </div>
      )}
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
  if (outcome === null || result === null)
    return (
      <span className="flex items-center gap-2 whitespace-nowrap text-accent">
        {isLive && <Elapsed since={action.timestamp} />}
        {isLive && <span aria-hidden className="size-1.5 animate-pulse rounded-full bg-current" />}
        {t(isLive ? 'tool.runs' : 'tool.waits')}
      </span>
    )
  return (
    <>
      <span
        className={`text-xs whitespace-nowrap ${result.isBad ? 'rounded bg-bad-tint px-1.5 py-0.5 text-bad' : 'text-soft'}`}
      >
        {result.text}
      </span>
      <span className="text-xs whitespace-nowrap text-soft tabular-nums">
        {duration(Date.parse(outcome.timestamp) - Date.parse(action.timestamp))}
      </span>
    </>
  )
}

const word = (value: unknown): string | null => (typeof value === 'string' ? value : null)

/** What the agent asked for: a command, a difference, or the arguments as they are. */
export function Asked({ action: { action, tool_call } }: { action: Action }) {
  if (action?.kind === 'TerminalAction') return <Ansi text={`$ ${word(action['command']) ?? ''}`} />
  if (action?.kind === 'ApplyPatchAction') return <Ansi text={coloured(word(action['patch']) ?? '')} />
  const before = word(action?.['old_str']) ?? ''
  const after = word(action?.['new_str']) ?? word(action?.['file_text'])
  const isEdit = action?.kind === 'FileEditorAction' || action?.kind === 'PlanningFileEditorAction'
  if (isEdit && after !== null)
    return (
      <Suspense fallback={<Ansi text={after} />}>
        <TextDiff path={word(action['path']) ?? ''} original={before} modified={after} isSplit={false} />
      </Suspense>
    )
  return <Ansi text={colouredJson(pretty(tool_call.arguments))} />
}

/** A patch with what is added in green and what is removed in red. */
const coloured = (patch: string): string =>
  patch.replaceAll(/^[+-].*$/gm, (line) => `\u001b[${line.startsWith('+') ? 32 : 31}m${line}\u001b[0m`)

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
          {t('tool.show-all', { count: text.length })}
        </button>
      )}
      {imagesOf(content).map((address) =>
        /^data:image\/(png|jpeg|gif|webp);base64,/.test(address) ? (
          <img key={address} src={address} alt={t('tool.saw')} className="max-h-96 max-w-full p-3" />
        ) : null,
      )}
    </div>
  )
}
