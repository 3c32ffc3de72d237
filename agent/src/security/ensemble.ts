import type { Analyzer, Finding } from './analyzer.ts'
import { higher } from './levels.ts'

/**
 * The highest risk that one of its members finds. `propagateUnknown`: what one member cannot judge is unknown, unless another
 * finds it HIGH.
 */
export function ensembleAnalyzer(members: readonly Analyzer[], propagateUnknown: boolean): Analyzer {
  return {
    kind: 'EnsembleSecurityAnalyzer',
    asksModel: members.some((member) => member.asksModel),
    outside: members.some((member) => member.outside),
    async judge(action, history, signal) {
      const found = await Promise.all(members.map((member) => member.judge(action, history, signal)))
      const unknown = found.find(({ level }) => level === 'UNKNOWN')
      const most = found.reduce<Finding>((a, b) => (higher(a.level, b.level) === a.level ? a : b), nobody)
      return propagateUnknown && unknown !== undefined && most.level !== 'HIGH' ? unknown : most
    },
  }
}

const nobody: Finding = { level: 'UNKNOWN', source: 'nobody', score: null, reason: null }
