import type { Analyzer } from './analyzer.ts'

/** Takes the model's own word for it. What only reads is not rated and counts as LOW. */
export const llmAnalyzer: Analyzer = {
  kind: 'LLMSecurityAnalyzer',
  asksModel: true,
  outside: false,
  judge({ claim, readOnly }) {
    const level = claim === 'UNKNOWN' && readOnly ? 'LOW' : claim
    return Promise.resolve({ level, source: 'model', score: null, reason: null })
  },
}
