import type { Content, Observation } from '@parley/contract/events'

export const textContent = (text: string): Content => ({ type: 'text', text, cache_prompt: false })

/** What a tool answers. `facts` are the fields that this kind of observation has beyond content and is_error. */
export const observed = (kind: string, text: string, facts: Record<string, unknown> = {}): Observation => ({
  kind,
  content: text === '' ? [] : [textContent(text)],
  is_error: false,
  ...facts,
})

/** A tool's answer that tells the model what it did wrong. */
export const failed = (kind: string, text: string, facts: Record<string, unknown> = {}): Observation => ({
  ...observed(kind, text, facts),
  is_error: true,
})

/** Head and tail of a text that is longer than `limit` characters, with `where` the rest is between them. */
export function cutMiddle(text: string, limit: number, where = ''): string {
  if (text.length <= limit) return text
  const half = Math.floor(limit / 2)
  return `${text.slice(0, half)}\n[… ${text.length - 2 * half} characters left out${where} …]\n${text.slice(-half)}`
}
