import type { ConfirmationAnswer } from '@parley/contract/event-calls'
import type { Tool } from '../events/timeline.ts'

/* What a person answers to the actions that wait: which of them, and with which changes. */

/** What was changed in a call, as the text that is in its field. */
export type Edits = Readonly<Record<string, string>>

export const commandOf = ({ action }: Tool): string | null => {
  const command = action.action?.kind === 'TerminalAction' ? action.action['command'] : null
  return typeof command === 'string' ? command : null
}

const objectIn = (json: string): Record<string, unknown> | null => {
  try {
    const value: unknown = JSON.parse(json)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : null
  } catch {
    return null
  }
}

/** The arguments that the text of a field stands for: of a terminal the command, of others all of them. Null: no JSON object. */
export function argumentsOf(call: Tool, text: string): Record<string, unknown> | null {
  if (commandOf(call) === null) return objectIn(text)
  return { ...objectIn(call.action.tool_call.arguments), command: text }
}

interface Answer {
  calls: readonly Tool[]
  /** Keys of the calls that are answered. */
  chosen: ReadonlySet<string>
  edits: Edits
}

/** The body of an approval; null while an edit cannot be understood. Without choice and changes it says no more than yes. */
export function approval({ calls, chosen, edits }: Answer): (Partial<ConfirmationAnswer> & { accept: true }) | null {
  const named = calls.filter(({ key }) => chosen.has(key))
  const changed = named.flatMap((call) => {
    const text = edits[call.key]
    return text === undefined ? [] : [[call.key, argumentsOf(call, text)] as const]
  })
  if (changed.some(([, given]) => given === null)) return null
  return {
    accept: true,
    ...some(calls, named),
    ...(changed.length === 0 ? {} : { edits: Object.fromEntries(changed) as Record<string, Record<string, unknown>> }),
  }
}

export function refusal({ calls, chosen }: Omit<Answer, 'edits'>, reason: string) {
  const named = calls.filter(({ key }) => chosen.has(key))
  return { accept: false, ...some(calls, named), ...(reason.trim() === '' ? {} : { reason: reason.trim() }) }
}

const some = (all: readonly Tool[], named: readonly Tool[]) =>
  named.length === all.length ? {} : { action_ids: named.map(({ key }) => key) }
