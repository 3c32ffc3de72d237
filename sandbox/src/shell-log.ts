import { randomBytes } from 'node:crypto'
import type { Process } from './driver.ts'
import type { Spawn } from './worker.ts'

const maxLog = 512 * 2 ** 20

/** All that one shell prints, kept in a file of the sandbox by a process inside. */
export class ShellLog {
  readonly path = `/tmp/.parley/shell-${randomBytes(6).toString('hex')}.log`
  /** Bytes written so far. */
  size = 0
  readonly #writer: Process
  #ok = true

  constructor(spawn: Spawn) {
    const script = 'umask 077; mkdir -p -- "${1%/*}" && exec cat >>"$1"'
    this.#writer = spawn({ argv: ['/bin/sh', '-c', script, 'sh', this.path], cwd: '/' })
    this.#writer.stdout.resume()
    this.#writer.stderr.resume()
    this.#writer.stdin.on('error', () => (this.#ok = false))
    void this.#writer.ended.then(() => (this.#ok = false))
  }

  /** False when the writer has enough for now: `whenReady` says when it can take more. */
  add(bytes: Buffer): boolean {
    if (!this.#ok || this.size >= maxLog || bytes.length === 0) return true
    this.size += bytes.length
    return this.#writer.stdin.write(bytes)
  }

  whenReady(then: () => void): void {
    const once = () => {
      this.#writer.stdin.off('drain', once).off('close', once)
      then()
    }
    this.#writer.stdin.on('drain', once).on('close', once)
  }

  async close(): Promise<void> {
    this.#writer.stdin.end()
    const done = setTimeout(() => void this.#writer.kill(0), 2_000)
    await this.#writer.ended
    clearTimeout(done)
  }
}
