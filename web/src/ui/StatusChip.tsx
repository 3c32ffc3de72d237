import type { AppConversation } from '@parley/contract/conversations'

const tones = {
  busy: 'bg-tint text-accent',
  calm: 'bg-panel text-soft',
  asks: 'bg-warn-tint text-warn',
  bad: 'bg-bad-tint text-bad',
  good: 'bg-tint text-good',
}
type Tone = keyof typeof tones

const execution: Record<string, [string, Tone]> = {
  idle: ['Idle', 'calm'],
  running: ['Working', 'busy'],
  paused: ['Paused', 'calm'],
  waiting_for_confirmation: ['Needs your answer', 'asks'],
  finished: ['Finished', 'good'],
  error: ['Failed', 'bad'],
  stuck: ['Stuck', 'bad'],
  deleting: ['Deleting', 'calm'],
}
const sandbox: Record<string, [string, Tone]> = {
  STARTING: ['Sandbox starting', 'busy'],
  RUNNING: ['Sandbox running', 'good'],
  PAUSED: ['Sandbox paused', 'calm'],
  ERROR: ['Sandbox failed', 'bad'],
  MISSING: ['Sandbox gone', 'calm'],
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

/** What the agent does; while it has no status of its own, what its sandbox does. */
export function StatusChip({ of }: { of: Pick<AppConversation, 'execution_status' | 'sandbox_status'> }) {
  if (of.execution_status === null) return <SandboxChip status={of.sandbox_status} />
  const [text, tone] = execution[of.execution_status] ?? [of.execution_status, 'calm']
  return <Chip text={text} tone={tone} />
}

export function SandboxChip({ status }: { status: string }) {
  const [text, tone] = sandbox[status] ?? [status, 'calm']
  return <Chip text={text} tone={tone} />
}
