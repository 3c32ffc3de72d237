import { z } from 'zod'
import type { Risk } from './events.ts'

/*
 * When an action waits for a person, and who judges how risky it is. Unknown members are refused: a misspelt threshold
 * must not pass for a default.
 */

export const NeverConfirm = z.strictObject({ kind: z.literal('NeverConfirm') }).meta({ id: 'NeverConfirm' })
export const AlwaysConfirm = z.strictObject({ kind: z.literal('AlwaysConfirm') }).meta({ id: 'AlwaysConfirm' })

/** Asks from `threshold` on; `confirm_unknown` says whether an action that nobody judged is asked for too. */
export const ConfirmRisky = z
  .strictObject({
    kind: z.literal('ConfirmRisky'),
    threshold: z.enum(['LOW', 'MEDIUM', 'HIGH']).default('HIGH'),
    confirm_unknown: z.boolean().default(true),
  })
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
  .strictObject({
    kind: z.literal('VendorAnalyzer'),
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
  })
  .refine((analyzer) => analyzer.low_threshold < analyzer.medium_threshold, {
    path: ['low_threshold'],
    message: 'must be less than medium_threshold',
  })
  .meta({ id: 'VendorAnalyzer' })
export type VendorAnalyzer = z.infer<typeof VendorAnalyzer>

/** Takes the model's own word for it. */
export const LlmSecurityAnalyzer = z
  .strictObject({ kind: z.literal('LLMSecurityAnalyzer') })
  .meta({ id: 'LLMSecurityAnalyzer' })

/** Rules over the text of commands: fetch and execute, raw disk writes, catastrophic deletes. */
export const PatternSecurityAnalyzer = z
  .strictObject({ kind: z.literal('PatternSecurityAnalyzer') })
  .meta({ id: 'PatternSecurityAnalyzer' })

const single = [VendorAnalyzer, LlmSecurityAnalyzer, PatternSecurityAnalyzer] as const

/** The highest risk that one of its members finds. */
export const EnsembleSecurityAnalyzer = z
  .strictObject({
    kind: z.literal('EnsembleSecurityAnalyzer'),
    analyzers: z.array(z.discriminatedUnion('kind', single)).min(1).max(10),
    propagate_unknown: z.boolean().default(false),
  })
  .meta({ id: 'EnsembleSecurityAnalyzer' })

export const SecurityAnalyzer = z.discriminatedUnion('kind', [...single, EnsembleSecurityAnalyzer])
export type SecurityAnalyzer = z.infer<typeof SecurityAnalyzer>
