import { randomBytes } from 'node:crypto'
import type { Process } from './driver.ts'
import type { Spawn } from './worker.ts'

const maxLog = 512 * 2 ** 20
/** Less than what anybody shows of one command, so what is cut there is always in the file. */
const heldLimit = 16 * 1024

/** All that one shell prints, kept in a file of the sandbox by a process inside, which runs only when there is much. */
export class ShellLog {
  readonly path: string
  /** Bytes printed so far, to the bound of the file. */
  size = 0
  readonly #spawn: Spawn
  /** Room for bytes that are not on their way to the file yet. Not of Node's pool: a few bytes would keep all of that alive. */
  #held = Buffer.alloc(0)
  #heldSize = 0
  #writer: Process | undefined
  /** While a writer ends: what comes next must not overtake it. */
  #settling: Promise<void> | undefined
  #ok = true

  /** @param folder It is made when it is needed. */
  constructor(spawn: Spawn, folder: string) {
    this.#spawn = spawn
    this.path = `${folder}/shell-${randomBytes(6).toString('hex')}.log`
  }

  /** False when the writer has enough for now: `whenReady` says when it can take more. */
  add(bytes: Buffer): boolean {
    if (!this.#ok || this.size >= maxLog || bytes.length === 0) return true
    this.size += bytes.length
    if (this.#writer !== undefined) return this.#writer.stdin.write(bytes)
    this.#hold(bytes)
    if (this.#settling !== undefined) return false
    return this.#heldSize <= heldLimit || this.#write()
  }

  whenReady(then: () => void): void {
    const stdin = this.#writer?.stdin
    const once = () => {
      stdin?.off('drain', once).off('close', once)
      then()
    }
    if (this.#settling !== undefined) void this.#settling.then(then)
    else if (stdin === undefined || stdin.destroyed) then()
    else stdin.on('drain', once).on('close', once)
  }

  /** Resolves when the file has all that was much; the last few KiB may still be held. After 2 s in any case. */
  async settled(): Promise<void> {
    const writer = this.#writer
    if (writer === undefined) return this.#settling
    this.#writer = undefined
    this.#settling = this.#finish(writer)
    await this.#settling
    this.#settling = undefined
  }

  async #finish(writer: Process): Promise<void> {
    writer.stdin.end()
    const late = setTimeout(() => void writer.kill(0), 2_000)
    const { code } = await writer.ended
    clearTimeout(late)
    if (code !== 0) this.#ok = false
  }

  #hold(bytes: Buffer): void {
    const needed = this.#heldSize + bytes.length
    if (needed > this.#held.length) {
      const room = Buffer.allocUnsafeSlow(Math.max(2 * needed, 512))
      this.#held.copy(room, 0, 0, this.#heldSize)
      this.#held = room
    }
    bytes.copy(this.#held, this.#heldSize)
    this.#heldSize = needed
  }

  /** Opens the file with all that was held. */
  #write(): boolean {
    const held = this.#held.subarray(0, this.#heldSize)
    this.#held = Buffer.alloc(0)
    this.#heldSize = 0
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
    return this.#writer.stdin.write(held)
  }
}
