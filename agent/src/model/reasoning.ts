import type { LanguageModelV4CallOptions } from '@ai-sdk/provider'
import type { LlmConfig } from './config.ts'
import { ModelError } from './model.ts'

const efforts = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const

/** The effort as the library takes it; it turns it into what the model's family has. */
export function reasoningOf({ reasoning_effort }: LlmConfig): Pick<LanguageModelV4CallOptions, 'reasoning'> {
  if (reasoning_effort === null || reasoning_effort === undefined || reasoning_effort === '') return {}
  const effort = efforts.find((known) => known === reasoning_effort)
  if (effort === undefined)
    throw new ModelError(
      'config',
      `reasoning_effort is ${JSON.stringify(reasoning_effort)}; it can be ${efforts.join(', ')}.`,
    )
  return { reasoning: effort }
}
