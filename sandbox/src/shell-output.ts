import { StringDecoder } from 'node:string_decoder'

const headSize = 64 * 1024
const tailSize = 64 * 1024
const separator = 0x1e

/**
 * What a shell prints, as text: bytes that are no UTF-8 become U+FFFD, characters cut by the edge of a chunk do not. Of
 * large output the first and the last 64 Ki characters are kept.
 */
export class ShellOutput {
  length = 0
  #head = ''
  #tail = ''
  readonly #decoder = new StringDecoder('utf8')

  /** Gives the new text. */
  add(bytes: Buffer): string {
    return this.#put(this.#decoder.write(bytes))
  }

  /** What was kept since the last time, and forgets it. */
  take(): { text: string; length: number } {
    const left = this.length - this.#head.length - this.#tail.length
    const gap = left > 0 ? `\n[… ${left} characters left out …]\n` : ''
    const taken = { text: `${this.#head}${gap}${this.#tail}`, length: this.length }
    this.length = 0
    this.#head = ''
    this.#tail = ''
    return taken
  }

  #put(text: string): string {
    this.length += text.length
    const room = headSize - this.#head.length
    // Once something went past the head, all that follows does.
    const toHead = this.#tail === '' && room > 0 ? text.slice(0, room) : ''
    this.#head += toHead
    const tail = this.#tail + text.slice(toHead.length)
    this.#tail = tail.length > 2 * tailSize ? copy(tail.slice(-tailSize)) : tail
    return text
  }
}

/** A string of its own: a slice would keep the long text alive. */
const copy = (text: string) => Buffer.from(text, 'utf16le').toString('utf16le')

/** Splits a stream of bytes at a mark that may arrive in pieces, holding back nothing that cannot be the mark's beginning. */
export class MarkFinder {
  #mark: Buffer | undefined
  #held: Buffer = Buffer.alloc(0)

  /** The mark to look for from now on. */
  expect(name: string): void {
    this.#mark = Buffer.concat([Buffer.of(separator), Buffer.from(name), Buffer.of(separator)])
  }

  /** The bytes that are output, and whether the mark came. What follows the mark is output too. */
  add(chunk: Buffer): { output: Buffer; found: boolean } {
    const data = this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk])
    this.#held = Buffer.alloc(0)
    if (this.#mark === undefined) return { output: data, found: false }
    const at = data.indexOf(this.#mark)
    if (at >= 0) {
      const after = data.subarray(at + this.#mark.length)
      this.#mark = undefined
      return { output: Buffer.concat([data.subarray(0, at), after]), found: true }
    }
    const last = data.indexOf(separator, Math.max(0, data.length - this.#mark.length + 1))
    const cut = last >= 0 && this.#mark.subarray(0, data.length - last).equals(data.subarray(last)) ? last : data.length
    this.#held = Buffer.from(data.subarray(cut))
    return { output: data.subarray(0, cut), found: false }
  }
}
