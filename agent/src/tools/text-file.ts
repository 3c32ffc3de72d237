import type { Files } from '@parley/sandbox/driver'

/** A file's text with line ends as `\n`, and how to write it back the way it was. */
export interface TextFile {
  text: string
  /** Bytes of a text in this file's own encoding and line ends. */
  bytes(text: string): Buffer
}

export const fileLimit = 10 * 1024 * 1024

/** The text, or a sentence for the model why there is none. */
export async function readText(files: Files, path: string): Promise<TextFile | string> {
  const data = await files.read(path)
  if (data.length > fileLimit) return `${path} is larger than 10 MB; use the terminal to look at parts of it.`
  const encoding = encodingOf(data)
  if (encoding === null) return `${path} is a binary file.`
  const raw = encoding === 'latin1' ? data.toString('latin1') : data.toString(encoding)
  const newlines = count(raw, '\n')
  // Mixed line ends are left as they are: a text without \r in it would change lines that nobody touched.
  const dos = newlines > 0 && count(raw, '\r\n') === newlines
  return {
    text: dos ? raw.replaceAll('\r\n', '\n') : raw,
    bytes: (text) => Buffer.from(dos ? text.replaceAll('\r\n', '\n').replaceAll('\n', '\r\n') : text, encoding),
  }
}

export const newFile: TextFile = { text: '', bytes: (text) => Buffer.from(text, 'utf8') }

/** Null: no text. A file that is not UTF-8 is taken byte by byte, so that what is not edited stays as it is. */
function encodingOf(data: Buffer): 'utf8' | 'utf16le' | 'latin1' | null {
  if (data[0] === 0xff && data[1] === 0xfe) return 'utf16le'
  if (data.includes(0)) return null
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(data)
    return 'utf8'
  } catch {
    return 'latin1'
  }
}

function count(text: string, part: string): number {
  let found = 0
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + part.length)) found += 1
  return found
}
