import '@xterm/xterm/css/xterm.css'
import { FitAddon } from '@xterm/addon-fit'
import { type ITheme, Terminal } from '@xterm/xterm'
import { strictly } from './strict-document.ts'

/* A terminal drawn into a box of the page, in the page's colours. */

export interface Screen {
  terminal: Terminal
  /** Makes it as large as its box. */
  fit(): void
  close(): void
}

const colours = {
  background: '--page',
  foreground: '--ink',
  cursor: '--accent',
  cursorAccent: '--page',
  selectionBackground: '--tint',
  red: '--bad',
  brightRed: '--bad',
  green: '--good',
  brightGreen: '--good',
  yellow: '--warn',
  brightYellow: '--warn',
  blue: '--blue',
  brightBlue: '--blue',
  magenta: '--magenta',
  brightMagenta: '--magenta',
  cyan: '--accent',
  brightCyan: '--accent',
  black: '--soft',
  brightBlack: '--soft',
  white: '--ink',
  brightWhite: '--ink',
} as const satisfies Partial<Record<keyof ITheme, string>>

function theme(): ITheme {
  const style = getComputedStyle(document.documentElement)
  return Object.fromEntries(Object.entries(colours).map(([name, from]) => [name, style.getPropertyValue(from).trim()]))
}

export function openScreen(box: HTMLElement): Screen {
  const leave = strictly()
  const style = getComputedStyle(document.documentElement)
  const terminal = new Terminal({
    fontFamily: style.getPropertyValue('--font-mono').trim() || 'monospace',
    fontSize: 13,
    cursorBlink: !matchMedia('(prefers-reduced-motion: reduce)').matches,
    scrollback: 5000,
    minimumContrastRatio: 4.5,
    theme: theme(),
  })
  const fitting = new FitAddon()
  terminal.loadAddon(fitting)
  terminal.open(box)
  // The class of the root says whether the page is dark.
  const watch = new MutationObserver(() => (terminal.options.theme = theme()))
  watch.observe(document.documentElement, { attributeFilter: ['class'] })
  return {
    terminal,
    fit: () => fitting.fit(),
    close() {
      watch.disconnect()
      terminal.dispose()
      leave()
    },
  }
}
