import { z } from 'zod'
import { described, kindOf } from './described.ts'
import type { Risk } from './events.ts'

/*
 * When an action waits for a person, and who judges how risky it is. Unknown members are refused: a misspelt threshold
 * must not pass for a default.
 */

export const NeverConfirm = z.strictObject({ kind: kindOf('NeverConfirm') }).meta({ id: 'NeverConfirm' })
export const AlwaysConfirm = z.strictObject({ kind: kindOf('AlwaysConfirm') }).meta({ id: 'AlwaysConfirm' })

/** Asks from `threshold` on; `confirm_unknown` says whether an action that nobody judged is asked for too. */
export const ConfirmRisky = z
  .strictObject(
    described(
      {
        kind: kindOf('ConfirmRisky'),
        threshold: z.enum(['LOW', 'MEDIUM', 'HIGH']).default('HIGH'),
        confirm_unknown: z.boolean().default(true),
      },
      {
        threshold: 'From this risk on an action waits for a person.',
        confirm_unknown: 'Whether an action that nobody judged waits too.',
      },
    ),
  )
  .meta({ id: 'ConfirmRisky' })

export const ConfirmationPolicy = z.discriminatedUnion('kind', [NeverConfirm, AlwaysConfirm, ConfirmRisky])
export type ConfirmationPolicy = z.infer<typeof ConfirmationPolicy>

const rank: Readonly<Record<Exclude<Risk, 'UNKNOWN'>, number>> = { LOW: 0, MEDIUM: 1, HIGH: 2 }

/** True when an action of this risk waits for a person. */
export function asksFor(policy: ConfirmationPolicy, risk: Risk): boolean {
  if (policy.kind === 'NeverConfirm') return false
  if (policy.kind === 'AlwaysConfirm') return true
  return risk === 'UNKNOWN' ? policy.confirm_unknown : rank[risk] >= rank[policy.threshold]
}

/** The policy that settings ask for. */
export function policyOfSettings(confirms: boolean | null, analyzer: string | null): ConfirmationPolicy {
  if (confirms !== true) return { kind: 'NeverConfirm' }
  if (analyzer === 'llm' || analyzer === 'pattern')
    return { kind: 'ConfirmRisky', threshold: 'HIGH', confirm_unknown: true }
  return { kind: 'AlwaysConfirm' }
}

const share = z.number().min(0).max(1)

/** A scoring service outside: a score up to `low_threshold` is LOW, up to `medium_threshold` MEDIUM, above it HIGH. */
export const VendorAnalyzer = z
  .strictObject(
    described(
      {
        kind: kindOf('VendorAnalyzer'),
        history_limit: z.int().min(0).default(20),
        max_message_chars: z.int().min(1).default(30_000),
        timeout: z.number().min(0).default(30),
        low_threshold: share.default(0.3),
        medium_threshold: share.default(0.7),
        api_url: z.string().max(2048).nullable().default(null),
        api_key: z.string().max(4096).nullable().default(null),
        policy_id: z.string().max(255).nullable().default(null),
        /** What an action is taken for when the service does not judge it. */
        on_failure: z.enum(['unknown', 'high']).default('unknown'),
      },
      {
        history_limit: 'How many of the newest messages go along with the action.',
        max_message_chars: 'Characters of one message; the middle of a longer one is left out.',
        timeout: 'Seconds to wait for its answer.',
        low_threshold: 'A score up to this, from 0 to 1, is LOW.',
        medium_threshold: 'A score up to this is MEDIUM, above it HIGH.',
        api_url: 'Is sent the messages by POST; without it nothing is judged and `on_failure` holds.',
        api_key: 'Sent as `Authorization: Bearer`; answered as asterisks. Without it `on_failure` holds.',
        policy_id: 'Handed on to the service.',
        on_failure: 'What an action is when the service does not judge it.',
      },
    ),
  )
  .refine((analyzer) => analyzer.low_threshold < analyzer.medium_threshold, {
    path: ['low_threshold'],
    message: 'must be less than medium_threshold',
  })
  .meta({ id: 'VendorAnalyzer' })
export type VendorAnalyzer = z.infer<typeof VendorAnalyzer>

/** Takes the model's own word for it. */
export const LlmSecurityAnalyzer = z
  .strictObject({ kind: kindOf('LLMSecurityAnalyzer') })
  .meta({ id: 'LLMSecurityAnalyzer' })

/** Rules over the text of commands: fetch and execute, raw disk writes, catastrophic deletes. */
export const PatternSecurityAnalyzer = z
  .strictObject({ kind: kindOf('PatternSecurityAnalyzer') })
  .meta({ id: 'PatternSecurityAnalyzer' })

const single = [VendorAnalyzer, LlmSecurityAnalyzer, PatternSecurityAnalyzer] as const

/** The highest risk that one of its members finds. */
export const EnsembleSecurityAnalyzer = z
  .strictObject(
    described(
      {
        kind: kindOf('EnsembleSecurityAnalyzer'),
        analyzers: z.array(z.discriminatedUnion('kind', single)).min(1).max(10),
        propagate_unknown: z.boolean().default(false),
      },
      {
        analyzers: 'Those that judge; the highest risk that one finds counts.',
        propagate_unknown: 'Whether what one of them cannot judge is unknown, unless another finds it HIGH.',
      },
    ),
  )
  .meta({ id: 'EnsembleSecurityAnalyzer' })

export const SecurityAnalyzer = z.discriminatedUnion('kind', [...single, EnsembleSecurityAnalyzer])
export type SecurityAnalyzer = z.infer<typeof SecurityAnalyzer>
