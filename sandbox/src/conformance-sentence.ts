import { randomUUID } from 'node:crypto'
import type { Driver, Hands, SandboxSpec } from './driver.ts'

export interface Opened {
  driver: Driver
  /** Whether there are walls; without, what needs them is left out. */
  isolated: boolean
  /** Whether memory, processes and processor time are limited for the sandbox as a whole. */
  limits: boolean
  /** Whether it is a pod: not every wall is seen from inside then. */
  inPods?: boolean
  /** Whether a pause ends what runs, and keeps the files only. */
  pauseEnds?: boolean
  /** Ends a sandbox as a crash would: process 1 cannot be ended from inside. */
  endSandbox(id: string): Promise<void>
  /** Names what a removed sandbox left on the host; empty when nothing. */
  leftovers(id: string): Promise<string[]>
  close(): Promise<void>
}

/** Registers one test. */
export type Sentence = (text: string, work: (opened: Opened) => Promise<void>) => void

/** Runs a test on a sandbox of its own. */
export type WithSandbox = (
  more: Partial<SandboxSpec>,
  work: (spec: SandboxSpec, hands: Hands) => Promise<void>,
) => Promise<void>

export const mebibyte = 2 ** 20

export const specOf = (more: Partial<SandboxSpec> = {}): SandboxSpec => ({
  id: randomUUID(),
  image: null,
  env: {},
  limits: { memory: 256 * mebibyte, processes: 96, cpu: 1, disk: 512 * mebibyte },
  workingDir: '/workspace',
  ...more,
})

/** How long a start may take. */
export const limit = (): AbortSignal => AbortSignal.timeout(50_000)

/** What a script prints. */
export const text = async (hands: Hands, script: string, args: string[] = []): Promise<string> =>
  (await hands.run({ script, args, timeoutMs: 20_000 })).stdout.toString()

export async function collect(stream: AsyncIterable<Buffer>): Promise<string> {
  const parts: Buffer[] = []
  for await (const part of stream) parts.push(part)
  return Buffer.concat(parts).toString()
}
