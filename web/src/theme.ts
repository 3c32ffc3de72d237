/* Light, dark, or as the system has it. `public/theme.js` does the same before the first paint. */

export const themes = ['system', 'light', 'dark'] as const
export type Theme = (typeof themes)[number]

const key = 'parley.theme'
const system = matchMedia('(prefers-color-scheme: dark)')

export const theme = (): Theme => themes.find((one) => one === localStorage.getItem(key)) ?? 'system'

export function setTheme(chosen: Theme): void {
  localStorage.setItem(key, chosen)
  show()
}

const show = () => {
  const chosen = theme()
  document.documentElement.classList.toggle('dark', chosen === 'dark' || (chosen === 'system' && system.matches))
}
system.addEventListener('change', show)
