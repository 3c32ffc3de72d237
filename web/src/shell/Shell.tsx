import { useQuery } from '@tanstack/react-query'
import { Link, Outlet } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { chooseLanguage, chosenLanguage, languageOf } from '../i18n/language.ts'
import { t } from '../i18n/translate.ts'
import { settings } from '../settings/settings.ts'
import { Account } from './Account.tsx'
import { useAttention } from './attention.ts'
import { Away } from './Away.tsx'
import { Palette } from './Palette.tsx'

const places = [
  { to: '/', label: 'shell.new' },
  { to: '/conversations', label: 'shell.conversations' },
  { to: '/sandboxes', label: 'shell.sandboxes' },
  { to: '/settings', label: 'shell.settings' },
] as const

/** The frame of every page: where one can go, who one is, and the page itself. */
export function Shell() {
  const [isOpen, setOpen] = useState(false)
  useStoredLanguage()
  useAttention()
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== 'k' || !(event.metaKey || event.ctrlKey)) return
      event.preventDefault()
      setOpen((open) => !open)
    }
    addEventListener('keydown', listen)
    return () => removeEventListener('keydown', listen)
  }, [])
  return (
    <div className="flex h-full flex-col">
      <a href="#page" className="sr-only focus:not-sr-only focus:absolute focus:z-20 focus:bg-raised focus:p-2">
        {t('shell.skip')}
      </a>
      <header className="flex items-center gap-1 border-b border-line px-2 sm:gap-2 sm:px-4">
        <Link to="/" className="flex items-center gap-2 py-2 pr-2 font-semibold" aria-label={t('shell.start')}>
          <img src="/favicon.svg" alt="" className="size-6" />
          <span className="hidden sm:inline">Parley</span>
        </Link>
        <nav aria-label={t('shell.main')} className="flex min-w-0 overflow-x-auto">
          {places.map(({ to, label }) => (
            <Link
              key={to}
              to={to}
              activeOptions={{ exact: to === '/' }}
              className={`${to === '/' ? 'hidden sm:block' : ''} border-b-2 border-transparent px-2 py-3 text-sm text-soft hover:text-ink aria-[current=page]:border-accent aria-[current=page]:text-ink`}
            >
              {t(label)}
            </Link>
          ))}
        </nav>
        <button
          type="button"
          onClick={() => setOpen(true)}
          className="ml-auto hidden min-h-9 items-center gap-2 rounded-lg border border-line px-2 text-sm text-soft hover:bg-panel md:flex"
        >
          {t('shell.search')} <kbd className="rounded bg-panel px-1 font-sans text-xs">Ctrl K</kbd>
        </button>
        <div className="ml-auto md:ml-0">
          <Account />
        </div>
      </header>
      <main id="page" className="min-h-0 flex-1 overflow-y-auto" tabIndex={-1}>
        <Outlet />
      </main>
      <Away />
      {isOpen && <Palette onClose={() => setOpen(false)} />}
    </div>
  )
}

/** A browser that has not been here before speaks as the settings of the person say. */
function useStoredLanguage(): void {
  const { data } = useQuery(settings)
  const stored = languageOf(data?.language ?? '')
  useEffect(() => {
    if (stored !== undefined && stored !== chosenLanguage()) void chooseLanguage(stored)
  }, [stored])
}
