import assert from 'node:assert/strict'
import type { Critic, Scene } from './critic.ts'

/** What every critic must keep: a score from 0 to 1, a message with every score that is not full, the same for the same work. */
export async function assertCritic(critic: Critic, scenes: readonly Scene[]): Promise<void> {
  assert.match(critic.kind, /^[A-Z]\w*Critic$/)
  for (const scene of scenes) {
    const { signal } = new AbortController()
    const verdict = await critic.judge(scene, signal)
    assert.ok(verdict.score >= 0 && verdict.score <= 1)
    assert.equal(verdict.message === null, verdict.score === 1, 'what is missing is said')
    assert.deepEqual(await critic.judge(scene, signal), verdict)
  }
}
