/** Where an array of a JSON text lies: after its bracket, after each element, and at its closing bracket. */
export interface Span {
  open: number
  ends: number[]
  close: number
}

/**
 * The array at the outermost object's `key`, found without parsing.
 * @param json a valid JSON object without blanks, as `JSON.stringify` writes it
 */
export function arraySpan(json: string, key: string): Span | null {
  const wanted = JSON.stringify(key)
  let at = 1
  while (json[at] === '"') {
    const keyEnd = valueEnd(json, at)
    const value = keyEnd + 1
    if (json.slice(at, keyEnd) === wanted) return json[value] === '[' ? elements(json, value + 1) : null
    at = valueEnd(json, value) + 1
  }
  return null
}

function elements(json: string, open: number): Span | null {
  const ends: number[] = []
  let at = open
  if (json[at] === ']') return { open, ends, close: at }
  while (at < json.length) {
    at = valueEnd(json, at)
    ends.push(at)
    if (json[at] === ']') return { open, ends, close: at }
    at++
  }
  return null
}

const quote = 34
const backslash = 92
const opens = (char: number) => char === 123 || char === 91
const closes = (char: number) => char === 125 || char === 93

/** Just after the value that begins at `start`. */
function valueEnd(json: string, start: number): number {
  const first = json.charCodeAt(start)
  if (first === quote) return stringEnd(json, start) + 1
  if (!opens(first)) return bareEnd(json, start)
  let depth = 0
  for (let at = start; at < json.length; at++) {
    const char = json.charCodeAt(at)
    if (char === quote) at = stringEnd(json, at)
    else if (opens(char)) depth++
    else if (closes(char) && --depth === 0) return at + 1
  }
  return json.length
}

function bareEnd(json: string, start: number): number {
  let at = start
  while (at < json.length && json.charCodeAt(at) !== 44 && !closes(json.charCodeAt(at))) at++
  return at
}

/** The index of the closing quote. */
function stringEnd(json: string, start: number): number {
  for (let at = json.indexOf('"', start + 1); at !== -1; at = json.indexOf('"', at + 1)) {
    let slashes = 0
    while (json.charCodeAt(at - 1 - slashes) === backslash) slashes++
    if (slashes % 2 === 0) return at
  }
  return json.length
}
