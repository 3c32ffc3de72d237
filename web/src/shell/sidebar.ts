import { useSyncExternalStore } from 'react'

/* Whether the side of the page is shown where there is room for it. Kept in this browser. */

const key = 'parley.sidebar'
const listeners = new Set<() => void>()

const isShown = (): boolean => localStorage.getItem(key) !== 'off'

export function toggleSidebar(): void {
  localStorage.setItem(key, isShown() ? 'off' : 'on')
  for (const changed of listeners) changed()
}

export const useSidebar = (): boolean =>
  useSyncExternalStore((changed) => {
    listeners.add(changed)
    return () => listeners.delete(changed)
  }, isShown)
