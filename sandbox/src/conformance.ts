/*
 * What every driver promises, as tests. A driver's own test file calls `conformance` with how to open one; what only
 * this kind can do or show (how a sandbox crashes, what is left on the host) comes through `Opened`.
 */
import { after, before } from 'node:test'
import { fileConformance } from './conformance-files.ts'
import { jobConformance } from './conformance-jobs.ts'
import { lifeCycleConformance } from './conformance-life-cycle.ts'
import { limitConformance } from './conformance-limits.ts'
import { processConformance } from './conformance-processes.ts'
import { limit, sentenceOf, specOf, type Opened, type WithSandbox } from './conformance-sentence.ts'
import { shellConformance } from './conformance-shell.ts'
import { wallConformance } from './conformance-walls.ts'
import type { Hands } from './driver.ts'

/** One driver and one sandbox for all tests that do no harm to it. */
export function conformance(name: string, open: () => Promise<Opened>): void {
  let opened: Opened
  const shared = specOf({ env: { GREETING: "it's" }, gitIdentity: { name: 'Ada "A"', email: 'ada@example.test' } })
  const hands = (): Promise<Hands> => opened.driver.hands(shared.id)
  before(async () => {
    opened = await open()
    await opened.driver.start(shared, limit())
  })
  after(async () => {
    await opened?.driver.remove(shared.id)
    await opened?.close()
  })
  const sentence = sentenceOf(name, () => opened)
  const withSandbox: WithSandbox = async (more, work) => {
    const spec = specOf(more)
    await opened.driver.start(spec, limit())
    try {
      await work(spec, await opened.driver.hands(spec.id))
    } finally {
      await opened.driver.remove(spec.id)
    }
  }

  lifeCycleConformance(sentence, withSandbox)
  processConformance(sentence, withSandbox, hands)
  wallConformance(sentence, hands)
  limitConformance(sentence, withSandbox)
  fileConformance(sentence, hands)
  shellConformance(sentence, hands)
  jobConformance(sentence, withSandbox, hands)
}
