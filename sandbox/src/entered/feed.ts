import { Writable } from 'node:stream'

/** Bytes that travel in one piece: a program is started inside for each. */
const most = 2 ** 20
/** Up to here text is read by the shell itself, byte by byte, which is the quicker way. */
const short = 2048
const lineEnd = 10

/** A program's input in pieces that the other side (`feeding` in `inner.ts`) knows the length of, and its end. */
export function fedInto(to: Writable): Writable {
  const send = (data: Buffer, done: (error?: Error | null) => void) => {
    for (let at = most; at < data.length; at += most) to.write(piece(data.subarray(at - most, at)))
    to.write(piece(data.subarray(data.length === 0 ? 0 : Math.floor((data.length - 1) / most) * most)), done)
  }
  const stream = new Writable({
    highWaterMark: most,
    write: (chunk: Buffer, _, done) => send(chunk, done),
    writev: (chunks, done) => send(Buffer.concat(chunks.map(({ chunk }) => chunk as Buffer)), done),
    final: (done) => void to.write('x\n', done),
  })
  return stream.on('error', () => undefined) // the program has ended: it tells itself
}

function piece(data: Buffer): Buffer {
  const lines = data.length <= short ? linesOf(data) : 0
  const head = lines > 0 ? `t ${lines}\n` : `b ${data.length}\n`
  return data.length === 0 ? data : Buffer.concat([Buffer.from(head), data])
}

/** The number of lines of plain text; 0 when it is anything else. */
function linesOf(data: Buffer): number {
  if (data.at(-1) !== lineEnd) return 0
  let lines = 0
  for (const byte of data) {
    if (byte === lineEnd) lines++
    else if (byte !== 9 && (byte < 32 || byte > 126)) return 0
  }
  return lines
}
