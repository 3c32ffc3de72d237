import type { en } from './en.ts'

/* The types of what the page says, read off the English table: its keys, and the holes in each text. */

type English = typeof en
export type Key = keyof English
/** A text with holes, `{name}`; a plural has one for each form of the language and the hole `{count}`. */
export type Forms = Partial<Record<Intl.LDMLPluralRule, string>> & { other: string }
/** All texts in one language. A key that is missing, or too many, is an error of types. */
export type Translation = { readonly [K in Key]: English[K] extends string ? string : Forms }

type Names<Text> = Text extends `${string}{${infer Name}}${infer Rest}` ? Name | Names<Rest> : never
type Holes<Message> = Message extends string
  ? Names<Message>
  : Message extends { other: infer Other }
    ? Names<Other> | 'count'
    : never
/** What must be given with a key: nothing, or a value for each hole of its text. */
export type Given<K extends Key> = [Holes<English[K]>] extends [never]
  ? []
  : [values: Record<Holes<English[K]>, string | number>]
