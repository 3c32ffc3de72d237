import type { UsageSum } from '@parley/contract/usage'
import { compact, dollars } from '../i18n/format.ts'

/* What of the usage a chart shows. */

export const measures = ['cost', 'tokens'] as const
export type Measure = (typeof measures)[number]

export const tokensOf = ({ prompt_tokens, completion_tokens }: UsageSum): number => prompt_tokens + completion_tokens

export const valueOf = (sum: UsageSum, measure: Measure): number => (measure === 'cost' ? sum.cost : tokensOf(sum))

export const written = (value: number, measure: Measure): string =>
  measure === 'cost' ? dollars(value) : compact(value)

/** The end of an axis that reaches `most`: 1, 2 or 5 times a power of ten. */
export function roundTop(most: number): number {
  if (most <= 0) return 1
  const power = 10 ** Math.floor(Math.log10(most))
  return ([1, 2, 5, 10].find((step) => step * power >= most) ?? 10) * power
}
