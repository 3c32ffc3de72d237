import { randomBytes } from 'node:crypto'
import type { Process } from './driver.ts'
import type { Spawn } from './worker.ts'

const maxLog = 512 * 2 ** 20
/** Less than what anybody shows of one command, so what is cut there is always in the file. */
const heldLimit = 16 * 1024

/** All that one shell prints, kept in a file of the sandbox by a process inside: from the moment when it is much. */
export class ShellLog {
  readonly path = `/tmp/.parley/shell-${randomBytes(6).toString('hex')}.log`
  /** Bytes printed so far, to the bound of the file. */
  size = 0
  readonly #spawn: Spawn
  /** Bytes that wait for the writer, which is there once they are too many. */
  #held: Buffer[] = []
  #writer: Process | undefined
  #ok = true

  constructor(spawn: Spawn) {
    this.#spawn = spawn
  }

  /** False when the writer has enough for now: `whenReady` says when it can take more. */
  add(bytes: Buffer): boolean {
    if (!this.#ok || this.size >= maxLog || bytes.length === 0) return true
    this.size += bytes.length
    if (this.#writer !== undefined) return this.#writer.stdin.write(bytes)
    this.#held.push(this.size > heldLimit ? bytes : Buffer.from(bytes))
    return this.size <= heldLimit || this.#write()
  }

  whenReady(then: () => void): void {
    const stdin = this.#writer?.stdin
    const once = () => {
      stdin?.off('drain', once).off('close', once)
      then()
    }
    if (stdin === undefined || stdin.destroyed) then()
    else stdin.on('drain', once).on('close', once)
  }

  /**
   * Resolves when the file holds what was printed after `from`, where that may be too much to show, or after 2 s: the
   * writer is a process that may be behind.
   */
  async settled(from: number): Promise<void> {
    if (this.#writer === undefined || !this.#ok || this.size - from <= heldLimit) return
    const script =
      'n=0; until [ "$(wc -c 2>/dev/null <"$1")" -ge "$2" ] 2>/dev/null || [ $n -ge 200 ]; do n=$((n+1)); sleep 0.01; done'
    try {
      const look = this.#spawn({ argv: ['/bin/sh', '-c', script, 'sh', this.path, String(this.size)], cwd: '/' })
      look.stdin.on('error', () => undefined).end()
      look.stdout.resume()
      look.stderr.resume()
      await look.ended
    } catch {
      // The sandbox has ended, and the file with it.
    }
  }

  async close(): Promise<void> {
    this.#held = []
    const writer = this.#writer
    if (writer === undefined) return
    writer.stdin.end()
    const done = setTimeout(() => void writer.kill(0), 2_000)
    await writer.ended
    clearTimeout(done)
  }

  /** Opens the file with all that was held. */
  #write(): boolean {
    const held = Buffer.concat(this.#held)
    this.#held = []
    const script = 'umask 077; mkdir -p -- "${1%/*}" && exec cat >>"$1"'
    try {
      this.#writer = this.#spawn({ argv: ['/bin/sh', '-c', script, 'sh', this.path], cwd: '/' })
    } catch {
      this.#ok = false // the sandbox has ended, as the shell is about to hear
      return true
    }
    this.#writer.stdout.resume()
    this.#writer.stderr.resume()
    this.#writer.stdin.on('error', () => (this.#ok = false))
    void this.#writer.ended.then(() => (this.#ok = false))
    return this.#writer.stdin.write(held)
  }
}
