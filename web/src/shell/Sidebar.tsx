import type { AppConversation } from '@parley/contract/conversations'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { t } from '../i18n/translate.ts'
import { Icon } from '../ui/Icon.tsx'
import { IconButton } from '../ui/IconButton.tsx'
import { toneOf, wordOf } from '../ui/StatusChip.tsx'
import { visible } from '../ui/visible.ts'
import { Account } from './Account.tsx'
import { latest } from './attention.ts'
import { places } from './places.ts'
import { toggleSidebar } from './sidebar.ts'

const line =
  'flex min-h-8 items-center gap-2.5 rounded-lg px-2 text-sm text-soft hover:bg-line/60 hover:text-ink aria-[current=page]:bg-line/70 aria-[current=page]:font-medium aria-[current=page]:text-ink'

/** Beside every page where there is room: where one can go, and what one worked on last. */
export function Sidebar({ onSearch }: { onSearch: () => void }) {
  return (
    <aside className="hidden w-64 shrink-0 flex-col border-r border-line bg-panel lg:flex">
      <div className="flex items-center justify-between py-2.5 pr-2 pl-3">
        <Link to="/" className="flex items-center gap-2 font-semibold" aria-label={t('shell.start')}>
          <img src="/favicon.svg" alt="" className="size-6" />
          Parley
        </Link>
        <IconButton icon="panel" label={t('shell.hide')} className="hover:bg-line/60!" onClick={toggleSidebar} />
      </div>
      <nav aria-label={t('shell.main')} className="grid gap-0.5 px-2">
        {places.map(({ to, label, icon }) => (
          <Link key={to} to={to} activeOptions={{ exact: to !== '/settings' }} className={line}>
            <Icon name={icon} />
            {t(label)}
          </Link>
        ))}
        <button type="button" className={line} onClick={onSearch}>
          <Icon name="search" />
          {t('shell.search')}
          <kbd className="ml-auto rounded border border-line px-1 font-sans text-xs">Ctrl K</kbd>
        </button>
      </nav>
      <LastWorkedOn />
      <div className="border-t border-line p-2">
        <Account isWide />
      </div>
    </aside>
  )
}

function LastWorkedOn() {
  const { data } = useQuery(latest)
  const all = data?.items ?? []
  return (
    <div className="mt-4 min-h-0 flex-1 overflow-y-auto px-2 pb-2">
      {all.length > 0 && (
        <section aria-label={t('shell.recent')}>
          <h2 className="px-2 pb-1 text-xs font-medium text-soft">{t('recent.title')}</h2>
          <ul className="grid grid-cols-[minmax(0,1fr)] gap-0.5">
            {all.map((one) => (
              <li key={one.id}>
                <Conversation of={one} />
              </li>
            ))}
          </ul>
        </section>
      )}
    </div>
  )
}

const looks = {
  busy: 'bg-accent animate-pulse',
  asks: 'bg-warn',
  bad: 'bg-bad',
  good: 'border border-edge',
  calm: 'border border-edge',
}

/** Its dot says at a glance whether it works, needs somebody, or rests; its name says it in a word. */
function Conversation({ of: one }: { of: AppConversation }) {
  const title = visible(one.title ?? t('ui.untitled'))
  return (
    <Link
      to="/conversations/$id"
      params={{ id: one.id }}
      className={line}
      aria-label={`${title}, ${wordOf(one)}`}
      title={`${title} · ${wordOf(one)}`}
    >
      <span aria-hidden className="grid size-4 shrink-0 place-items-center">
        <span className={`size-2 rounded-full ${looks[toneOf(one)]}`} />
      </span>
      <span className="truncate">{title}</span>
    </Link>
  )
}
