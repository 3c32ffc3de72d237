import { useCallback, useState } from 'react'

/** A text that is not lost when the page is left or loaded again. Kept in this browser under `place`. */
export function useDraft(place: string): [string, (text: string) => void] {
  const key = `parley.draft.${place}`
  const [draft, setDraft] = useState({ key, text: read(key) })
  const change = useCallback(
    (text: string) => {
      setDraft({ key, text })
      keep(key, text)
    },
    [key],
  )
  return [draft.key === key ? draft.text : read(key), change]
}

export const draftAt = (place: string): string => read(`parley.draft.${place}`)
export const putDraft = (place: string, text: string): void => keep(`parley.draft.${place}`, text)

const read = (key: string): string => localStorage.getItem(key) ?? ''

function keep(key: string, text: string): void {
  try {
    if (text === '') localStorage.removeItem(key)
    else localStorage.setItem(key, text)
  } catch {
    // The browser keeps nothing more: the text stays in the field.
  }
}
