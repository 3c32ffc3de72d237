import type { SecurityAnalyzer } from '@parley/contract/confirmation'
import type { Analyzer } from './analyzer.ts'
import { ensembleAnalyzer } from './ensemble.ts'
import { llmAnalyzer } from './llm.ts'
import { patternAnalyzer } from './pattern.ts'
import { vendorAnalyzer } from './vendor.ts'

/** The family: an analyzer for its configuration. `way` is how one reaches a service outside. */
export function openAnalyzer(config: SecurityAnalyzer, way: typeof fetch): Analyzer {
  switch (config.kind) {
    case 'LLMSecurityAnalyzer':
      return llmAnalyzer
    case 'PatternSecurityAnalyzer':
      return patternAnalyzer
    case 'VendorAnalyzer':
      return vendorAnalyzer(config, way)
    case 'EnsembleSecurityAnalyzer': {
      const members = config.analyzers.map((one) => openAnalyzer(one, way))
      return ensembleAnalyzer(members, config.propagate_unknown)
    }
    default:
      return config satisfies never
  }
}

/** The kind that the settings' word for an analyzer stands for; null when it names none. */
export function analyzerOfSettings(word: string | null): SecurityAnalyzer | null {
  const kind = words[word?.toLowerCase() ?? '']
  return kind === undefined ? null : { kind }
}

const words: Readonly<Record<string, 'LLMSecurityAnalyzer' | 'PatternSecurityAnalyzer'>> = {
  llm: 'LLMSecurityAnalyzer',
  llmsecurityanalyzer: 'LLMSecurityAnalyzer',
  pattern: 'PatternSecurityAnalyzer',
  patternsecurityanalyzer: 'PatternSecurityAnalyzer',
}
