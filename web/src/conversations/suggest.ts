import { useQuery } from '@tanstack/react-query'
import { useDeferredValue, useState } from 'react'

/* What a composer offers while one writes: `/` at the start of the text for commands, `@` before a word for files. */

export interface Suggestion {
  /** Takes the place of what was written so far. */
  value: string
  note?: string
  /** Done instead of writing `value`. */
  act?: () => void
}

export interface Source {
  /** Names what is searched, for the cache. */
  key: readonly unknown[]
  search: (words: string) => Promise<Suggestion[]> | Suggestion[]
}
export type Sources = Partial<Record<'/' | '@', Source>>

export interface Token {
  sign: '/' | '@'
  words: string
  from: number
  to: number
}

/** The command or file that is being written before the caret. */
export function tokenAt(text: string, caret: number): Token | null {
  const before = text.slice(0, caret)
  const found = /^(\/)([\w:-]*)$|(?:^|\s)(@)([^\s@]*)$/.exec(before)
  if (found === null) return null
  const sign = (found[1] ?? found[3]) as Token['sign']
  const words = found[2] ?? found[4] ?? ''
  return { sign, words, from: caret - words.length - 1, to: caret }
}

/** The text with the token replaced, and where the caret stands then. */
export function completed(text: string, { from, to }: Token, value: string): { text: string; caret: number } {
  const put = value === '' ? '' : `${value} `
  const rest = text.slice(to)
  return {
    text: text.slice(0, from) + put + (put.endsWith(' ') ? rest.replace(/^ /, '') : rest),
    caret: from + put.length,
  }
}

const most = 8

const fits = ({ value, note = '' }: Suggestion, words: string): boolean =>
  `${value} ${note}`.toLowerCase().includes(words.toLowerCase())

export function useSuggestions(sources: Sources, text: string, caret: number) {
  const [closed, setClosed] = useState<string | null>(null)
  const [marked, setMarked] = useState(0)
  const token = tokenAt(text, caret)
  const source = token === null ? undefined : sources[token.sign]
  const asked = useDeferredValue(token?.words ?? '')
  const found = useQuery({
    queryKey: ['suggest', ...(source?.key ?? []), asked],
    queryFn: async () => (await source?.search(asked)) ?? [],
    enabled: source !== undefined,
    placeholderData: (last) => last,
    staleTime: 10_000,
  })
  const here = token === null ? null : `${token.sign} ${token.from}`
  const isOpen = source !== undefined && here !== closed
  const isLate = found.isPlaceholderData || asked !== (token?.words ?? '')
  const all = isOpen ? (found.data ?? []) : []
  // What was found for fewer letters holds until the rest comes, as far as it fits.
  const items = (isLate ? all.filter((one) => fits(one, token?.words ?? '')) : all).slice(0, most)
  return {
    token,
    items,
    marked: Math.min(marked, Math.max(0, items.length - 1)),
    mark: (index: number) => setMarked((index + items.length) % Math.max(1, items.length)),
    /** Until another one is begun. */
    close: () => setClosed(here),
  }
}
