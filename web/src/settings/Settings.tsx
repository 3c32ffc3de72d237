import { getRouteApi, Link } from '@tanstack/react-router'
import type { ComponentType } from 'react'
import { GitHosts } from '../git/GitHosts.tsx'
import { t } from '../i18n/translate.ts'
import { Keys } from '../keys/Keys.tsx'
import { Secrets } from '../secrets/Secrets.tsx'
import { NotHere } from '../shell/NotHere.tsx'
import { useTitle } from '../ui/Page.tsx'
import { Profile } from '../users/Profile.tsx'
import { AgentForm } from './AgentForm.tsx'
import { ModelForm } from './ModelForm.tsx'
import { sections } from './sections.ts'

const route = getRouteApi('/inside/settings/$section')

const pages: Record<(typeof sections)[number]['id'], ComponentType> = {
  model: ModelForm,
  agent: AgentForm,
  git: GitHosts,
  secrets: Secrets,
  keys: Keys,
  profile: Profile,
}

export function Settings() {
  const { section } = route.useParams()
  const shown = sections.find(({ id }) => id === section)
  useTitle(shown === undefined ? t('shell.settings') : `${t(shown.label)} · ${t('shell.settings')}`)
  if (shown === undefined) return <NotHere />
  const Content = pages[shown.id]
  return (
    <div className="mx-auto w-full max-w-5xl p-4 sm:p-6">
      <h1 className="mb-4 text-xl font-semibold">{t('shell.settings')}</h1>
      <div className="grid gap-4 md:grid-cols-[11rem_1fr]">
        <nav aria-label={t('shell.settings')} className="flex flex-wrap gap-1 md:flex-col md:flex-nowrap">
          {sections.map(({ id, label }) => (
            <Link
              key={id}
              to="/settings/$section"
              params={{ section: id }}
              className="rounded-lg px-3 py-2 text-sm whitespace-nowrap text-soft hover:bg-panel aria-[current=page]:bg-tint aria-[current=page]:text-ink"
            >
              {t(label)}
            </Link>
          ))}
        </nav>
        <div className="min-w-0">
          <Content />
        </div>
      </div>
    </div>
  )
}
