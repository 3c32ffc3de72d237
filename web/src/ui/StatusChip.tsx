import type { AppConversation } from '@parley/contract/conversations'
import type { Key } from '../i18n/message.ts'
import { t } from '../i18n/translate.ts'

const tones = {
  busy: 'bg-tint text-accent',
  calm: 'bg-panel text-soft',
  asks: 'bg-warn-tint text-warn',
  bad: 'bg-bad-tint text-bad',
  good: 'bg-tint text-good',
}
type Tone = keyof typeof tones
type Word = Extract<Key, `status.${string}`>

const execution: Record<string, [Word, Tone]> = {
  idle: ['status.idle', 'calm'],
  running: ['status.running', 'busy'],
  paused: ['status.paused', 'calm'],
  waiting_for_confirmation: ['status.waiting_for_confirmation', 'asks'],
  finished: ['status.finished', 'good'],
  error: ['status.error', 'bad'],
  stuck: ['status.stuck', 'bad'],
  deleting: ['status.deleting', 'calm'],
}
const sandbox: Record<string, [Word, Tone]> = {
  STARTING: ['status.STARTING', 'busy'],
  RUNNING: ['status.RUNNING', 'good'],
  PAUSED: ['status.PAUSED', 'calm'],
  ERROR: ['status.ERROR', 'bad'],
  MISSING: ['status.MISSING', 'calm'],
}

/** A status as a word; the colour only repeats it. */
export function Chip({ text, tone }: { text: string; tone: Tone }) {
  return (
    <span
      className={`inline-flex items-center gap-1.5 rounded-full px-2 py-0.5 text-xs font-medium whitespace-nowrap ${tones[tone]}`}
    >
      <span aria-hidden className={`size-1.5 rounded-full bg-current ${tone === 'busy' ? 'animate-pulse' : ''}`} />
      {text}
    </span>
  )
}

type Of = Pick<AppConversation, 'execution_status' | 'sandbox_status'>
const known = ({ execution_status, sandbox_status }: Of): [Word, Tone] | undefined =>
  execution_status === null ? sandbox[sandbox_status] : execution[execution_status]

export const toneOf = (one: Of): Tone => known(one)?.[1] ?? 'calm'
/** The status of a conversation in a word. */
export const wordOf = (one: Of): string => {
  const [word] = known(one) ?? []
  return word === undefined ? (one.execution_status ?? one.sandbox_status) : t(word)
}

/** What the agent does; while it has no status of its own, what its sandbox does. */
export function StatusChip({ of }: { of: Of }) {
  if (of.execution_status === null) return <SandboxChip status={of.sandbox_status} />
  return <Known word={execution[of.execution_status]} status={of.execution_status} />
}

export const SandboxChip = ({ status }: { status: string }) => <Known word={sandbox[status]} status={status} />

/** A status that a newer server has and this page does not know is shown as it is. */
const Known = ({ word, status }: { word: [Word, Tone] | undefined; status: string }) =>
  word === undefined ? <Chip text={status} tone="calm" /> : <Chip text={t(word[0])} tone={word[1]} />
