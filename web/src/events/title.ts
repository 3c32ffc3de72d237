import type { LogEvent } from '@parley/contract/events'
import type { Outcome } from './timeline.ts'

type Action = Extract<LogEvent, { kind: 'ActionEvent' }>

const verbs: Record<string, string> = {
  view: 'View',
  create: 'Create',
  str_replace: 'Edit',
  insert: 'Edit',
  undo_edit: 'Undo the edit of',
}
const word = (value: unknown): string => (typeof value === 'string' ? value : '')

/** A tool call in one line. */
export function titleOf({ action, tool_name, tool_call, summary }: Action): { verb: string; what: string } {
  if (action === null) return { verb: tool_name, what: tool_call.arguments }
  const command = word(action['command'])
  if (action.kind === 'TerminalAction') return { verb: '$', what: command === '' ? '(waits for output)' : command }
  if (action.kind === 'FileEditorAction') return { verb: verbs[command] ?? command, what: word(action['path']) }
  return { verb: tool_name, what: summary ?? tool_call.arguments }
}

/** How it went, in one word; null while it runs. */
export function resultOf(outcome: Outcome | null): { text: string; isBad: boolean } | null {
  if (outcome === null) return null
  if (outcome.kind === 'UserRejectObservation') return { text: 'rejected', isBad: true }
  if (outcome.kind === 'AgentErrorEvent') return { text: 'failed', isBad: true }
  const code = outcome.observation['exit_code']
  if (typeof code === 'number' && code >= 0) return { text: `exit ${code}`, isBad: code !== 0 }
  return outcome.observation.is_error ? { text: 'failed', isBad: true } : { text: 'done', isBad: false }
}
