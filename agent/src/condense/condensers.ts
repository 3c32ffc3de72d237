import type { Condenser } from './condenser.ts'
import { llmSummarizingCondenser, type SummarizingOptions } from './llm-summarizing.ts'
import { noOpCondenser } from './no-op.ts'

/** The family, by the kind that settings name. */
export const condensers: Readonly<
  Record<'LLMSummarizingCondenser' | 'NoOpCondenser', (options: SummarizingOptions) => Condenser>
> = {
  LLMSummarizingCondenser: llmSummarizingCondenser,
  NoOpCondenser: () => noOpCondenser,
}
