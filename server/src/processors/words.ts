import type { LogEvent } from '@parley/contract/events'

/** What a message says in words; empty when it has none. */
export function wordsOf(event: LogEvent): string {
  if (event.kind !== 'MessageEvent') return ''
  // Reported events may have any form.
  const content = Array.isArray(event.llm_message?.content) ? event.llm_message.content : []
  return content
    .flatMap((part) => (part?.type === 'text' && typeof part.text === 'string' ? [part.text] : []))
    .join('\n')
    .trim()
}

/** What the agent gave as its result: what it finished with, or said. Empty for other events. */
export function resultOf(event: LogEvent): string {
  if (event.kind !== 'ActionEvent') return wordsOf(event)
  const said = event.action?.kind === 'FinishAction' ? event.action['message'] : undefined
  return typeof said === 'string' ? said.trim() : ''
}

const mostTitle = 50
/** A title is looked for in so much: what takes its markup away takes time that grows faster than the length. */
const [mostRead, mostLine] = [20_000, 400]

/** One line of at most 50 characters without markup, quotes or characters that turn the reading order; null when nothing is left. */
export function titleFrom(text: string): string | null {
  const line = text
    .slice(0, mostRead)
    .replace(/<think>[^]*?<\/think>/g, '')
    .split(/\r?\n/)
    .map((said) =>
      said
        .trimStart()
        .slice(0, mostLine)
        .replace(/[\p{Cc}\u202a-\u202e\u2066-\u2069]+/gu, ' ')
        .replace(/^\s*(?:#+|[-*>]|title\s*:)\s*/i, '')
        .replace(/(\*{1,3}|`+|__)(\S(?:.*?\S)?)\1/g, '$2')
        .replace(/^["'“”‘’«»\s]+|["'“”‘’«»\s]+$/g, ''),
    )
    .find((said) => said !== '')
  if (line === undefined) return null
  const characters = [...line]
  if (characters.length <= mostTitle) return line
  return `${characters
    .slice(0, mostTitle - 3)
    .join('')
    .trimEnd()}...`
}
