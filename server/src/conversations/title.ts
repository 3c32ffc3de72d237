import type { MessagePayload } from '@parley/contract/message'

const most = 50

/** Before anything was said. */
export const usualTitle = (id: string): string => `Conversation ${id.replaceAll('-', '').slice(-5)}`

/** The first line of the first message, cut to 50 characters; null when it has no text. */
export function firstTitle(message: MessagePayload | null): string | null {
  const text = message?.content.find((part) => part.type === 'text')?.text ?? ''
  const line = text
    .replace(/[\p{Cc}\u202a-\u202e\u2066-\u2069]+/gu, (found) => (found.includes('\n') ? '\n' : ' '))
    .split('\n')
    .map((said) => said.trim())
    .find((said) => said !== '')
  if (line === undefined) return null
  const characters = [...line]
  return characters.length > most
    ? `${characters
        .slice(0, most - 1)
        .join('')
        .trimEnd()}…`
    : line
}
