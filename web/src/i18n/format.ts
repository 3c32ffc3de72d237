import { currentLanguage } from './translate.ts'

/* Numbers, money and times as the language of the page writes them. */

export const number = (value: number, options: Intl.NumberFormatOptions = {}): string =>
  new Intl.NumberFormat(currentLanguage(), options).format(value)

/** 12.3K: for figures that are read at a glance. */
export const compact = (value: number): string => number(value, { notation: 'compact', maximumFractionDigits: 1 })

/** US dollars; what is below one has four digits, so that a cheap call is not nothing. */
export const dollars = (value: number): string => {
  const digits = value !== 0 && Math.abs(value) < 1 ? 4 : 2
  return number(value, {
    style: 'currency',
    currency: 'USD',
    currencyDisplay: 'narrowSymbol',
    minimumFractionDigits: 2,
    maximumFractionDigits: digits,
  })
}

export const percent = (share: number): string => number(share, { style: 'percent', maximumFractionDigits: 0 })

const sizes = ['byte', 'kilobyte', 'megabyte', 'gigabyte', 'terabyte'] as const
/** 1.5 MB, in steps of 1000. */
export function bytes(count: number): string {
  const step = Math.min(sizes.length - 1, Math.max(0, Math.floor(Math.log10(Math.max(1, count)) / 3)))
  return number(count / 1000 ** step, {
    style: 'unit',
    unit: sizes[step] ?? 'byte',
    unitDisplay: step === 0 ? 'long' : 'short',
    maximumFractionDigits: step === 0 ? 0 : 1,
  })
}

const format = (at: string | Date, options: Intl.DateTimeFormatOptions): string =>
  new Intl.DateTimeFormat(currentLanguage(), options).format(typeof at === 'string' ? new Date(at) : at)
export const day = (at: string | Date): string => format(at, { dateStyle: 'medium' })
export const moment = (at: string | Date): string => format(at, { dateStyle: 'medium', timeStyle: 'medium' })

const steps: [Intl.RelativeTimeFormatUnit, number][] = [
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
]

/** `5 min. ago`, `tomorrow`; `now` for less than a minute. */
export function relative(at: string): string {
  const seconds = (Date.parse(at) - Date.now()) / 1000
  const [unit, size] = steps.find(([, one]) => Math.abs(seconds) >= one) ?? ['second', Infinity]
  const words = new Intl.RelativeTimeFormat(currentLanguage(), { numeric: 'auto', style: 'narrow' })
  return words.format(size === Infinity ? 0 : Math.round(seconds / size), unit)
}

/** 840 ms, 3.2 s, 2 min 5 s. */
export function duration(ms: number): string {
  const unit = (value: number, name: string, digits: number) =>
    number(value, { style: 'unit', unit: name, unitDisplay: 'short', maximumFractionDigits: digits })
  if (ms < 1000) return unit(Math.max(0, Math.round(ms)), 'millisecond', 0)
  if (ms < 60_000) return unit(ms / 1000, 'second', 1)
  return `${unit(Math.floor(ms / 60_000), 'minute', 0)} ${unit(Math.round((ms % 60_000) / 1000), 'second', 0)}`
}
