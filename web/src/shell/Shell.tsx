import { useQuery } from '@tanstack/react-query'
import { Link, Outlet } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { chooseLanguage, chosenLanguage, languageOf } from '../i18n/language.ts'
import { t } from '../i18n/translate.ts'
import { settings } from '../settings/settings.ts'
import { IconButton } from '../ui/IconButton.tsx'
import { Account } from './Account.tsx'
import { useAttention } from './attention.ts'
import { Away } from './Away.tsx'
import { Palette } from './Palette.tsx'
import { places } from './places.ts'
import { toggleSidebar, useSidebar } from './sidebar.ts'
import { Sidebar } from './Sidebar.tsx'

/** The frame of every page: where one can go, who one is, and the page itself. */
export function Shell() {
  const [isOpen, setOpen] = useState(false)
  const isShown = useSidebar()
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
    <div className="group/shell flex h-full" data-sidebar={isShown ? 'on' : 'off'}>
      <a href="#page" className="sr-only focus:not-sr-only focus:absolute focus:z-20 focus:bg-raised focus:p-2">
        {t('shell.skip')}
      </a>
      {isShown && <Sidebar onSearch={() => setOpen(true)} />}
      <div className="flex min-w-0 flex-1 flex-col">
        <Top isAlways={!isShown} onSearch={() => setOpen(true)} />
        <main id="page" className="min-h-0 flex-1 overflow-y-auto" tabIndex={-1}>
          <Outlet />
        </main>
      </div>
      <Away />
      {isOpen && <Palette onClose={() => setOpen(false)} />}
    </div>
  )
}

/** Above the page, where there is no room beside it or one does not want it there. */
function Top({ isAlways, onSearch }: { isAlways: boolean; onSearch: () => void }) {
  return (
    <header
      className={`flex items-center gap-0.5 border-b border-line px-2 sm:gap-2 sm:px-4 ${isAlways ? '' : 'lg:hidden'}`}
    >
      <IconButton icon="panel" label={t('shell.show')} className="max-lg:hidden" onClick={toggleSidebar} />
      <Link to="/" className="flex items-center gap-2 py-2 pr-1 font-semibold sm:pr-2" aria-label={t('shell.start')}>
        <img src="/favicon.svg" alt="" className="size-6" />
        <span className="hidden sm:inline">Parley</span>
      </Link>
      <nav aria-label={t('shell.main')} className="flex min-w-0 overflow-x-auto">
        {places.map(({ to, short }) => (
          <Link
            key={to}
            to={to}
            activeOptions={{ exact: to === '/' }}
            className={`${to === '/' ? 'hidden sm:block' : ''} border-b-2 border-transparent px-1.5 py-3 text-sm text-soft hover:text-ink sm:px-2 aria-[current=page]:border-accent aria-[current=page]:text-ink`}
          >
            {t(short)}
          </Link>
        ))}
      </nav>
      <IconButton icon="search" label={t('shell.search')} className="ml-auto" onClick={onSearch} />
      <Account />
    </header>
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
