import type { LogEvent, Risk, RiskVerdict } from '@parley/contract/events'
import type { Clock } from '@parley/store/clock'
import type { Analyzer, Finding, Judged } from './analyzer.ts'
import { raised } from './levels.ts'
import { ruleFor } from './pattern.ts'

/** Calls that are judged at once. */
const atOnce = 16

export interface Assessing {
  analyzer: Analyzer | null
  history: readonly LogEvent[]
  clock: Clock
}

/**
 * One verdict each. What the analyzer finds (UNKNOWN without one) is raised by the model's own word and by the built-in rules,
 * never lowered: a model that was talked into something cannot talk its way past a rule. Never rejects.
 * @param own what the tool itself says of the call, where it says something
 */
export async function assess(
  actions: readonly (Judged & { own: Risk | null })[],
  { analyzer, history, clock }: Assessing,
  signal: AbortSignal,
): Promise<RiskVerdict[]> {
  const verdicts: RiskVerdict[] = []
  for (let at = 0; at < actions.length; at += atOnce) {
    const some = actions.slice(at, at + atOnce).map(async (action) => {
      const begun = clock.millis()
      const found = analyzer === null ? nobody(action.own) : await analyzer.judge(action, history, signal)
      return { ...decided(action, found), latency_ms: clock.millis() - begun }
    })
    verdicts.push(...(await Promise.all(some)))
  }
  return verdicts
}

const nobody = (own: Risk | null): Finding =>
  own === null
    ? { level: 'UNKNOWN', source: 'nobody', score: null, reason: null }
    : { level: own, source: 'tool', score: null, reason: null }

function decided(action: Judged, found: Finding): Finding {
  const rule = ruleFor(action)
  const ruled = rule === null ? found.level : raised(found.level, rule.level)
  const level = raised(ruled, action.claim)
  if (level === found.level) return found
  const source = level === ruled ? 'rules' : 'model'
  return { level, source, score: found.score, reason: source === 'rules' ? (rule?.name ?? null) : null }
}
