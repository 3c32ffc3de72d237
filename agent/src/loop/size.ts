import type { Size } from '../condense/condenser.ts'
import type { View } from './view.ts'
import type { Work } from './work.ts'

/** What the next request will be: what the last one was, and the characters since then. No tokenizer, nothing is read twice. */
export function sizeOf({ journal, model, toolCharacters }: Work): Size {
  const { characters, measured, events } = journal.view
  const known = measured ?? { tokens: Math.ceil(toolCharacters / 4), characters: 0 }
  const tokens = known.tokens + Math.ceil((characters - known.characters) / 4)
  return { tokens, window: model.contextWindow, events }
}

/** The parts of the next request in tokens, for the error that says it does not fit. */
export function sizesByPart(work: Work): string {
  const { journal, toolCharacters, model } = work
  const sizes: Record<string, number> = { tools: toolCharacters }
  for (const { role, parts } of journal.view.messages) {
    const name = names[role]
    sizes[name] = (sizes[name] ?? 0) + JSON.stringify(parts).length
  }
  const told = Object.entries(sizes).map(([name, size]) => `${name} about ${Math.ceil(size / 4)}`)
  const window = model.contextWindow === null ? '' : `, of ${model.contextWindow}`
  return `${told.join(', ')} tokens${window}`
}

const names: Record<View['messages'][number]['role'], string> = {
  system: 'system prompt',
  user: 'messages and summary',
  assistant: 'answers',
  tool: 'results',
}
