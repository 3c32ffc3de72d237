/** Bytes of a service's answer that are read. */
const answerLimit = 64 * 1024

/** The text of an answer. Rejects with a `SyntaxError` when it is longer than 64 KiB. */
export async function limited(answer: Response): Promise<string> {
  const pieces: Uint8Array[] = []
  let size = 0
  for await (const piece of answer.body ?? []) {
    pieces.push(piece)
    if ((size += piece.byteLength) > answerLimit) throw new SyntaxError('too long')
  }
  return Buffer.concat(pieces).toString('utf8')
}
