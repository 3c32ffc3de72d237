import type { AppConversation } from '@parley/contract/conversations'
import type { LogEvent } from '@parley/contract/events'
import { client } from '../api.ts'
import { type Item, textOf, timelineOf, type Tool } from '../events/timeline.ts'
import { titleOf } from '../events/title.ts'

/* A conversation as a text that reads well anywhere: what was said as it was said, what was done as code. */

/** The whole conversation; asks for all of its events. */
export async function markdownOf({ id, title, created_at }: AppConversation): Promise<string> {
  const events: LogEvent[] = []
  for (;;) {
    const { items } = await client.events.search({
      params: { id },
      query: { seq__gt: events.at(-1)?.seq ?? 0, limit: 100 },
    })
    if (items.length === 0) break
    events.push(...(items as unknown as LogEvent[]))
  }
  return [`# ${title ?? id}`, created_at, ...timelineOf(events).map(markdownOfItem)].filter(Boolean).join('\n\n') + '\n'
}

export function markdownOfItem(item: Item): string {
  switch (item.kind) {
    case 'message':
      return item.from === 'user' ? quoted(textOf(item.content)) : textOf(item.content)
    case 'thought':
      return `*${item.text}*`
    case 'note':
      return `*${item.text}*`
    case 'tool':
      return [fenced(calledAs(item)), answerOf(item)].filter(Boolean).join('\n\n')
    case 'turn':
      return '---'
    default:
      return item satisfies never
  }
}

const quoted = (text: string): string => text.replaceAll(/^/gm, '> ')

const calledAs = ({ action }: Tool): string => {
  const { verb, what } = titleOf(action)
  return `${verb} ${what}`
}

function answerOf({ outcome }: Tool): string {
  if (outcome === null) return ''
  if (outcome.kind === 'UserRejectObservation') return quoted(outcome.rejection_reason)
  if (outcome.kind === 'AgentErrorEvent') return fenced(outcome.error)
  const text = textOf(outcome.observation.content)
  // oxlint-disable-next-line no-control-regex -- colours are for terminals
  return text === '' ? '' : fenced(text.replaceAll(/\u001b\[[\d;:]*m/g, ''))
}

/** In a fence that is longer than any inside. */
function fenced(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length))
  const fence = '`'.repeat(longest + 1)
  return `${fence}\n${text.replace(/\n$/, '')}\n${fence}`
}
