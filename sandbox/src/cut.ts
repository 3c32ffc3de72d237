/*
 * Cuts the output of one command out of a stream that goes on. With a marker, output stands between `<marker>;` and
 * `<marker><exit code>;`, and what comes before or after belongs to nobody. Without, everything is output.
 */
export class Cut {
  /** The exit code in the end marker; undefined until it has come. */
  code: number | undefined
  truncated = false
  readonly #max: number
  readonly #marker: Buffer | undefined
  readonly #onEnd: () => void
  #begun: boolean
  #held: Buffer = Buffer.alloc(0)
  #kept: Buffer[] = []
  #size = 0

  /** @param max Bytes kept; the rest is counted as truncated. */
  constructor(max: number, marker?: Buffer, onEnd: () => void = () => undefined) {
    this.#max = max
    this.#marker = marker
    this.#onEnd = onEnd
    this.#begun = marker === undefined
  }

  add(chunk: Buffer): void {
    if (this.code !== undefined) return
    if (this.#marker === undefined) return this.#keep(chunk)
    let data = this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk])
    if (!this.#begun) {
      const start = Buffer.concat([this.#marker, Buffer.from(';')])
      const at = data.indexOf(start)
      if (at < 0) return this.#hold(data.subarray(-start.length))
      this.#begun = true
      data = data.subarray(at + start.length)
    }
    this.#take(data, this.#marker)
  }

  /** The output; also what was held back, when the end marker never came. */
  kept(): Buffer {
    if (this.#begun && this.code === undefined) this.#keep(this.#held)
    this.#held = Buffer.alloc(0)
    return Buffer.concat(this.#kept)
  }

  #take(data: Buffer, marker: Buffer): void {
    const at = data.indexOf(marker)
    const end = at < 0 ? -1 : data.indexOf(';', at + marker.length)
    if (end >= 0) {
      this.#keep(data.subarray(0, at))
      this.code = Number(data.subarray(at + marker.length, end))
      return this.#onEnd()
    }
    const safe = at >= 0 ? at : Math.max(0, data.length - marker.length)
    this.#keep(data.subarray(0, safe))
    this.#hold(data.subarray(safe))
  }

  /** A copy, so that a few bytes do not keep a whole chunk alive. */
  #hold(rest: Buffer): void {
    this.#held = Buffer.from(rest)
  }

  #keep(part: Buffer): void {
    const room = this.#max - this.#size
    if (part.length > room) this.truncated = true
    if (room <= 0 || part.length === 0) return
    this.#kept.push(part.subarray(0, room))
    this.#size += Math.min(room, part.length)
  }
}
