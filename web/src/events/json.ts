/*
 * JSON as a person reads it: one member on a line, and colours of a terminal for its parts. A control character in a JSON text is
 * written out, so none of these colours can come from what is shown.
 */

/** With one member on a line; what is no JSON stays as it is. */
export function pretty(json: string): string {
  try {
    return JSON.stringify(JSON.parse(json), null, 2)
  } catch {
    return json
  }
}

const parts = /("(?:[^"\\]|\\.)*")(\s*:)?|\b(?:true|false|null)\b|-?\d[\d.eE+-]*/g
const coloured = (colour: number, text: string) => `\u001b[${colour}m${text}\u001b[0m`
const [green, blue, magenta, cyan] = [32, 34, 35, 36]

export const colouredJson = (json: string): string =>
  json.replaceAll('\u001b', '').replace(parts, (part, text: string | undefined, colon: string | undefined) => {
    if (text !== undefined) return colon === undefined ? coloured(green, text) : coloured(cyan, text) + colon
    return coloured(/^[tfn]/.test(part) ? magenta : blue, part)
  })
