/** The names models use for keys, as a terminal sends them. */
const named: Record<string, string> = {
  ENTER: '\n',
  TAB: '\t',
  ESC: '\u001b',
  BS: '\u007f',
  UP: '\u001b[A',
  DOWN: '\u001b[B',
  RIGHT: '\u001b[C',
  LEFT: '\u001b[D',
  HOME: '\u001b[H',
  END: '\u001b[F',
  PGUP: '\u001b[5~',
  PGDN: '\u001b[6~',
}

/** Keys that tell a program to stop. A shell without a terminal passes them on as a signal. */
export const interrupt = Symbol('interrupt')

/** What to write to a program: a key, a control character, or a line with its end. */
export function keystrokes(text: string): string | typeof interrupt {
  const name = text.trim()
  const control = /^(?:C-|ctrl\+)([a-z\\])$/i.exec(name)?.[1]?.toUpperCase()
  if (control === 'C' || control === 'Z' || control === '\\') return interrupt
  if (control !== undefined) return String.fromCharCode(control.charCodeAt(0) - 64)
  return named[name] ?? (text.endsWith('\n') ? text : `${text}\n`)
}
