/*
 * Text that others wrote, made safe to read. Characters that turn the reading order around or cannot be seen are written
 * out, so that a text cannot look like another one.
 */

// U+061C, zero-width and order marks, line separators, overrides, word joiner, isolates, BOM, tag characters.
const hidden = /[\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2064\u2066-\u206f\ufeff]|\udb40[\udc00-\udc7f]/g
// oxlint-disable-next-line no-control-regex -- these are what is looked for
const control = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/g

const written = (char: string) =>
  `\u2039U+${(char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}\u203a`

/** The text with invisible and reordering characters written as ‹U+202E›. A joiner inside an emoji stays. */
export const visible = (text: string): string =>
  text
    .replace(hidden, (char, at: number) => (char === '\u200d' && joinsEmoji(text, at) ? char : written(char)))
    .replace(control, written)

const pictograph = /\p{Extended_Pictographic}(?:\p{Emoji_Modifier}|\ufe0f)*$/u
const joinsEmoji = (text: string, at: number): boolean => pictograph.test(text.slice(Math.max(0, at - 8), at))

/* oxlint-disable no-control-regex -- these are what is looked for */
const strings =
  /(?:\u001b[\]PX^_]|[\u009d\u0090\u0098\u009e\u009f])[^\u0007\u001b\u009c]{0,4096}(?:\u0007|\u001b\\|\u009c)?/g
const sequences = /(?:\u001b\[|\u009b)([0-?]*)([ -/]*)([@-~])?/g
const others = /\u001b(?!\[)[ -/]*[0-~]?/g
/** Where what was taken away has brought other parts together, a sequence can begin that was none before. */
const left = /\u001b(?!\[[\d;:]*m)/g
/* oxlint-enable no-control-regex */

/**
 * Output of a command: colours (SGR) stay, every other control sequence of a terminal goes (clipboard, links, titles,
 * cursor), and a line that was written over shows what it said last.
 */
export function terminalText(text: string): string {
  const colours = text
    .replace(strings, '')
    .replace(sequences, (whole, parameters: string, between: string, end: string | undefined) =>
      end === 'm' && between === '' && /^[\d;:]*$/.test(parameters) ? whole : '',
    )
    .replace(others, '')
    .replace(left, '')
  const lines = colours.replaceAll('\r\n', '\n').split('\n')
  const last = lines.map((line) => line.slice(line.replace(/\r+$/, '').lastIndexOf('\r') + 1))
  return last.map((line) => line.split('\u001b').map(visible).join('\u001b')).join('\n')
}
