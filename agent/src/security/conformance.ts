import assert from 'node:assert/strict'
import type { LogEvent } from '@parley/contract/events'
import type { Analyzer, Judged } from './analyzer.ts'

const levels = ['UNKNOWN', 'LOW', 'MEDIUM', 'HIGH']

/** What every analyzer must keep, for any action. */
export async function assertAnalyzer(
  analyzer: Analyzer,
  actions: readonly Judged[],
  history: readonly LogEvent[],
): Promise<void> {
  for (const action of actions) {
    const before = JSON.stringify([action, history])
    const found = await analyzer.judge(action, history, new AbortController().signal)
    assert.ok(levels.includes(found.level))
    assert.notEqual(found.source, '')
    assert.ok(found.score === null || (found.score >= 0 && found.score <= 1))
    assert.equal(JSON.stringify([action, history]), before, 'what is judged is only read')
  }
  const [first] = actions
  assert.ok(first !== undefined)
  const stopped = await analyzer.judge(first, history, AbortSignal.abort(new Error('stop')))
  assert.ok(levels.includes(stopped.level), 'a judgement that is stopped is a finding, not an error')
}
