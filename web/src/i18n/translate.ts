import { en } from './en.ts'
import type { Forms, Given, Key, Translation } from './message.ts'

/*
 * What the page says, in the language of its reader. English is the table that the others are typed after; it is part of
 * the page, every other table is loaded when it is chosen.
 */

export const languages = { en: 'English', de: 'Deutsch' } as const
export type Language = keyof typeof languages
const loaders: Record<Language, () => Promise<Translation>> = {
  en: async () => en,
  de: () => import('./de.ts').then(({ de }) => de),
}

let language: Language = 'en'
let table: Translation = en
const listeners = new Set<() => void>()

export const currentLanguage = (): Language => language
/** Calls back after every change of the language; the result ends that. */
export function onLanguage(changed: () => void): () => void {
  listeners.add(changed)
  return () => listeners.delete(changed)
}

/** Loads the texts of a language and uses them from then on. */
export async function speak(chosen: Language): Promise<void> {
  table = await loaders[chosen]()
  language = chosen
  for (const changed of listeners) changed()
}

/** The text under `key`, its holes filled. Call it while drawing, not when a file is loaded: the language can change. */
export function t<K extends Key>(key: K, ...[values]: Given<K>): string {
  const message: string | Forms = table[key]
  if (typeof message === 'string') return filled(message, values)
  const { count } = values as unknown as { count: number }
  return filled(message[new Intl.PluralRules(language).select(count)] ?? message.other, values)
}

const filled = (text: string, values: Record<string, string | number> | undefined): string =>
  values === undefined
    ? text
    : text.replaceAll(/\{(\w+)\}/g, (hole, name: string) => {
        const value = values[name]
        return typeof value === 'number' ? new Intl.NumberFormat(language).format(value) : (value ?? hole)
      })
