/** Keys that can be pressed: the name by which they are asked for, and what the page is told. */
const keys: Readonly<Record<string, { code: string; number: number; text?: string }>> = {
  Enter: { code: 'Enter', number: 13, text: '\r' },
  Tab: { code: 'Tab', number: 9 },
  Escape: { code: 'Escape', number: 27 },
  Backspace: { code: 'Backspace', number: 8 },
  Delete: { code: 'Delete', number: 46 },
  Space: { code: 'Space', number: 32, text: ' ' },
  ArrowUp: { code: 'ArrowUp', number: 38 },
  ArrowDown: { code: 'ArrowDown', number: 40 },
  ArrowLeft: { code: 'ArrowLeft', number: 37 },
  ArrowRight: { code: 'ArrowRight', number: 39 },
  Home: { code: 'Home', number: 36 },
  End: { code: 'End', number: 35 },
  PageUp: { code: 'PageUp', number: 33 },
  PageDown: { code: 'PageDown', number: 34 },
}

export const keyNames = Object.keys(keys)

const modifiers: Readonly<Record<string, number>> = { alt: 1, control: 2, ctrl: 2, meta: 4, shift: 8 }

export interface KeyPress {
  key: string
  code: string
  windowsVirtualKeyCode: number
  modifiers: number
  text?: string
}

/** `Enter`, `Control+a`; null when there is no such key. */
export function keyOf(name: string): KeyPress | null {
  const parts = name.split('+')
  const last = parts.pop() ?? ''
  const bits = parts.map((part) => modifiers[part.trim().toLowerCase()])
  if (bits.includes(undefined)) return null
  const held = bits.reduce<number>((all, bit) => all | (bit ?? 0), 0)
  const wanted = last.trim() === '' && last.length > 0 ? 'Space' : last.trim()
  const known = keyNames.find((one) => one.toLowerCase() === wanted.toLowerCase())
  const found = known === undefined ? undefined : keys[known]
  if (found !== undefined && known !== undefined) {
    const { code, number, text } = found
    const key = known === 'Space' ? ' ' : known
    const typed = text === undefined || held > 0 ? {} : { text }
    return { key, code, windowsVirtualKeyCode: number, modifiers: held, ...typed }
  }
  if (!/^[\w\p{P}\p{S}]$/u.test(wanted)) return null
  const typed = held & ~8 ? {} : { text: wanted }
  const code = /[a-z]/i.test(wanted) ? `Key${wanted.toUpperCase()}` : ''
  return { key: wanted, code, windowsVirtualKeyCode: wanted.toUpperCase().charCodeAt(0), modifiers: held, ...typed }
}
