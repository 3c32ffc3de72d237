import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { type ComponentType, lazy, Suspense } from 'react'
import { GitHosts } from '../git/GitHosts.tsx'
import { t } from '../i18n/translate.ts'
import { Keys } from '../keys/Keys.tsx'
import { Mcp } from '../mcp/Mcp.tsx'
import { Secrets } from '../secrets/Secrets.tsx'
import { NotHere } from '../shell/NotHere.tsx'
import { Loading } from '../ui/Loading.tsx'
import { useTitle } from '../ui/Page.tsx'
import { me } from '../users/me.ts'
import { Profile } from '../users/Profile.tsx'
import { BrowserNotices } from './BrowserNotices.tsx'
import { ModelForm } from './ModelForm.tsx'
import { groups, type Section, sectionsFor } from './sections.ts'
import { SettingsForm } from './SettingsForm.tsx'

const route = getRouteApi('/inside/settings/$section')

const pages: Record<Section['id'], ComponentType> = {
  model: ModelForm,
  agent: () => <SettingsForm name="agent" />,
  advanced: lazy(() =>
    import('./AgentSettingsForm.tsx').then(({ AgentSettingsForm }) => ({ default: AgentSettingsForm })),
  ),
  sandbox: () => <SettingsForm name="sandbox" />,
  mcp: Mcp,
  git: () => (
    <>
      <GitHosts />
      <SettingsForm name="author" />
    </>
  ),
  secrets: Secrets,
  keys: Keys,
  webhooks: lazy(() => import('../webhooks/Webhooks.tsx').then(({ Webhooks }) => ({ default: Webhooks }))),
  profile: Profile,
  app: () => (
    <>
      <BrowserNotices />
      <SettingsForm name="app" />
    </>
  ),
  usage: lazy(() => import('../usage/Usage.tsx').then(({ Usage }) => ({ default: Usage }))),
  people: lazy(() => import('../users/People.tsx').then(({ People }) => ({ default: People }))),
  server: lazy(() => import('../health/Server.tsx').then(({ Server }) => ({ default: Server }))),
}

export function Settings() {
  const { section } = route.useParams()
  const { data: person } = useQuery(me)
  const mine = sectionsFor(person?.role)
  const shown = mine.find(({ id }) => id === section)
  useTitle(shown === undefined ? t('shell.settings') : `${t(shown.label)} · ${t('shell.settings')}`)
  if (shown === undefined) return <NotHere />
  const Content = pages[shown.id]
  return (
    <div className="mx-auto w-full max-w-5xl p-4 sm:p-6">
      <h1 className="mb-4 text-xl font-semibold">{t('shell.settings')}</h1>
      <div className="grid grid-cols-[minmax(0,1fr)] gap-4 md:grid-cols-[12rem_minmax(0,1fr)] md:gap-8">
        <Narrow mine={mine} shown={shown} />
        <Wide mine={mine} />
        <div className="min-w-0">
          <Suspense fallback={<Loading />}>
            <Content />
          </Suspense>
        </div>
      </div>
    </div>
  )
}

/** On a phone the sections are one choice, so that they do not push the settings off the screen. */
function Narrow({ mine, shown }: { mine: readonly Section[]; shown: Section }) {
  const navigate = useNavigate()
  return (
    <select
      aria-label={t('shell.settings')}
      className="field md:hidden chosen"
      value={shown.id}
      onChange={({ target }) => void navigate({ to: '/settings/$section', params: { section: target.value } })}
    >
      {groups.map((group) => {
        const inside = mine.filter((one) => one.group === group)
        return inside.length === 0 ? null : (
          <optgroup key={group} label={t(`settings.group.${group}`)}>
            {inside.map(({ id, label }) => (
              <option key={id} value={id}>
                {t(label)}
              </option>
            ))}
          </optgroup>
        )
      })}
    </select>
  )
}

const Wide = ({ mine }: { mine: readonly Section[] }) => (
  <nav aria-label={t('shell.settings')} className="hidden md:block">
    {groups.map((group) => {
      const inside = mine.filter((one) => one.group === group)
      return inside.length === 0 ? null : (
        <div key={group} className="mb-4">
          <p className="px-3 pb-1 text-xs font-semibold tracking-wide text-soft uppercase">
            {t(`settings.group.${group}`)}
          </p>
          <ul>
            {inside.map(({ id, label }) => (
              <li key={id}>
                <Link
                  to="/settings/$section"
                  params={{ section: id }}
                  className="block rounded-lg px-3 py-1.5 text-sm text-soft hover:bg-panel hover:text-ink aria-[current=page]:bg-tint aria-[current=page]:font-medium aria-[current=page]:text-ink"
                >
                  {t(label)}
                </Link>
              </li>
            ))}
          </ul>
        </div>
      )
    })}
  </nav>
)
