import { currentLanguage, type Language, languages, speak } from './translate.ts'

/* Which language the page speaks: the one that was chosen, kept in this browser, or the first one of the browser we have. */

const key = 'parley.language'
const known = Object.keys(languages) as Language[]

/** The language we have for a tag such as `de-AT`. */
export const languageOf = (tag: string): Language | undefined =>
  known.find((one) => one === tag.toLowerCase().split('-')[0])

/** What was chosen; null: as the browser has it. */
export const chosenLanguage = (): Language | null => languageOf(localStorage.getItem(key) ?? '') ?? null

export const ofBrowser = (): Language => navigator.languages.map(languageOf).find((one) => one !== undefined) ?? 'en'

export async function chooseLanguage(chosen: Language | null): Promise<void> {
  if (chosen === null) localStorage.removeItem(key)
  else localStorage.setItem(key, chosen)
  await showLanguage()
}

/** Before the first paint, so that no text changes under the reader's eyes. Without its table the page is in English. */
export async function showLanguage(): Promise<void> {
  await speak(chosenLanguage() ?? ofBrowser()).catch(() => undefined)
  document.documentElement.lang = currentLanguage()
}
