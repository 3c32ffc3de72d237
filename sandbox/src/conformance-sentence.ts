import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
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

/** Registers one test. It is skipped when the work says why. */
export type Sentence = (text: string, work: (opened: Opened) => Promise<void | string>) => void

export const sentenceOf =
  (name: string, opened: () => Opened): Sentence =>
  (text, work) =>
    void test(`${name}: ${text}`, async (t) => {
      const why = await work(opened())
      if (typeof why === 'string') t.skip(why)
    })

export const withoutWalls = 'there are no walls around these sandboxes'
export const withoutLimits = 'nothing on this machine limits a sandbox as a whole'

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
  ...more,
})

/** How long a start may take. */
export const limit = (): AbortSignal => AbortSignal.timeout(50_000)

/** How many programs of the sandbox have a command line that begins so. Without walls those of others are seen, too. */
export async function programs(hands: Hands, commandLine: string): Promise<number> {
  const script = `n=0
for c in /proc/[0-9]*/cmdline; do
  tr '\\0' ' ' <"$c" | grep -q "^$1" || continue
  [ -z "$PARLEY_SANDBOX_ID" ] || tr '\\0' '\\n' <"\${c%cmdline}environ" | grep -qx "PARLEY_SANDBOX_ID=$PARLEY_SANDBOX_ID" || continue
  n=$((n + 1))
done 2>/dev/null
echo $n`
  return Number(await text(hands, script, [commandLine]))
}

/** What a script prints. */
export const text = async (hands: Hands, script: string, args: string[] = []): Promise<string> =>
  (await hands.run({ script, args, timeoutMs: 20_000 })).stdout.toString()

export async function collect(stream: AsyncIterable<Buffer>): Promise<string> {
  const parts: Buffer[] = []
  for await (const part of stream) parts.push(part)
  return Buffer.concat(parts).toString()
}
