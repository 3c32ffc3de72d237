/* A program that an engine runs in a container, whatever engine it is. */
import { PassThrough, type Readable, type Writable } from 'node:stream'

export interface Exec {
  readonly stdin: Writable
  readonly stdout: Readable
  /** Nothing comes here from a terminal. */
  readonly stderr: Readable
  /** Resolves with its exit code when it has ended and all its output has come; never rejects. */
  readonly ended: Promise<number>
  resize(columns: number, rows: number): void
  /** Lets go of it, whatever it does. */
  drop(): void
  /** True when it may still run although it has `ended`: the way to it was cut. */
  readonly lost?: () => boolean
}

/** What is not read holds the others up only beyond this. */
export const outputs = () => ({
  stdout: new PassThrough({ highWaterMark: 64 * 1024 }),
  stderr: new PassThrough({ highWaterMark: 2 ** 20 }),
})

/** Writes as fast as readers take it: the source is held while one of them is behind. */
export function holding(source: { pause(): unknown; resume(): unknown }): (to: PassThrough, part: Buffer) => void {
  const full = new Set<PassThrough>()
  return (to, part) => {
    if (to.destroyed || to.write(part) || full.has(to)) return
    full.add(to)
    source.pause()
    const goOn = () => {
      to.off('drain', goOn).off('close', goOn)
      full.delete(to)
      if (full.size === 0) source.resume()
    }
    to.on('drain', goOn).on('close', goOn)
  }
}
