import type { SettingsUpdate } from '@parley/contract/settings'
import { type Control, controls, type FormField } from './fields.ts'

type Read = (text: string) => unknown
const readers: Record<Exclude<Control['kind'], 'switch'>, Read> = {
  text: (text) => text.trim() || null,
  email: (text) => text.trim() || null,
  choice: (text) => text || null,
  number: (text) => (text === '' ? null : Number(text)),
  // Null leaves a stored key as it is.
  secret: (text) => text || null,
  lines: (text) => {
    const lines = text.split('\n').map((line) => line.trim())
    const said = lines.filter((line) => line !== '')
    return said.length === 0 ? null : said
  },
}

/** What a form says of these fields. */
export function saidIn(form: FormData, fields: readonly FormField[]): SettingsUpdate {
  const entries = fields.map((field) => {
    const { kind } = controls[field]
    const value = form.get(field)
    return [field, kind === 'switch' ? value === 'on' : readers[kind](typeof value === 'string' ? value : '')]
  })
  return Object.fromEntries(entries)
}
