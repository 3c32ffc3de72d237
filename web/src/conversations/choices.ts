import type { Chosen } from '../git/RepositoryPicker.tsx'
import { draftAt, putDraft, useDraft } from '../ui/draft.ts'

/* What was chosen beside the text of a new conversation. It is part of the draft: it outlives the page. */

export const modes = ['default', 'plan'] as const
export interface Choices {
  repository: Chosen | null
  model: string | null
  mode: (typeof modes)[number]
}

const place = 'new.choices'
const none: Choices = { repository: null, model: null, mode: 'default' }

export function useChoices(): [Choices, (change: Partial<Choices>) => void] {
  const [kept, keep] = useDraft(place)
  const choices = read(kept)
  return [choices, (change) => keep(JSON.stringify({ ...choices, ...change }))]
}

/** Once started: the next task is likely to be on the same repository; a model and a plan were for this one. */
export const startedWith = (): void =>
  putDraft(place, JSON.stringify({ ...none, repository: read(draftAt(place)).repository }))

function read(kept: string): Choices {
  if (kept === '') return none
  try {
    // Written by us, in this browser.
    return { ...none, ...(JSON.parse(kept) as Partial<Choices>) }
  } catch {
    return none
  }
}
