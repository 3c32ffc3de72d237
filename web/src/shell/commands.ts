import type { AppConversation } from '@parley/contract/conversations'
import { openAside } from '../conversations/side-questions.ts'
import { canSay, type Verb, verbsFor } from '../conversations/verbs.ts'
import { chooseLanguage } from '../i18n/language.ts'
import { currentLanguage, type Language, languages, t } from '../i18n/translate.ts'
import { sectionsFor } from '../settings/sections.ts'
import { tabs } from '../tabs.ts'
import { setTheme, type Theme, theme, themes } from '../theme.ts'
import type { IconName } from '../ui/Icon.tsx'
import { places } from './places.ts'
import { toggleSidebar } from './sidebar.ts'

/* What can be done from everywhere by its name. */

export interface Command {
  id: string
  label: string
  icon: IconName
  act: () => void
}

interface Where {
  /** The conversation that is open. */
  one: AppConversation | undefined
  role: 'owner' | 'member' | undefined
  go: (href: string) => void
  tell: (id: string, verb: Verb | 'condense') => void
  leave: () => void
}

export const commandsFor = (where: Where): Command[] => [...ofConversation(where), ...ofPlaces(where), ...ofPage(where)]

function ofConversation({ one, go, tell }: Where): Command[] {
  if (one === undefined) return []
  const icons = { pause: 'pause', interrupt: 'stop', resume: 'play', run: 'play' } as const
  const words = {
    pause: 'control.pause',
    interrupt: 'control.stop',
    resume: 'control.resume',
    run: 'control.again',
  } as const
  return [
    ...verbsFor(one).map((verb) => ({
      id: verb,
      label: t('command.agent', { what: t(words[verb]) }),
      icon: icons[verb],
      act: () => tell(one.id, verb),
    })),
    ...(canSay(one) && one.last_seq > 0
      ? [
          {
            id: 'condense',
            label: t('command.agent', { what: t('chat.condense') }),
            icon: 'down' as const,
            act: () => tell(one.id, 'condense'),
          },
        ]
      : []),
    { id: 'ask', label: t('aside.open'), icon: 'chat', act: () => besideOf(one.id, go) },
    ...tabs.map((tab) => ({
      id: tab,
      label: t('command.show', { what: t(`chat.tab.${tab}`) }),
      icon: 'right' as const,
      act: () => go(`/conversations/${one.id}?tab=${tab}`),
    })),
  ]
}

/** Where there is room for one part of the conversation only, the chat has to be that. */
function besideOf(id: string, go: Where['go']): void {
  if (!matchMedia('(min-width: 64rem)').matches) go(`/conversations/${id}`)
  openAside(id)
}

const ofPlaces = ({ role, go }: Where): Command[] => [
  ...places
    .filter(({ to }) => to !== '/settings')
    .map(({ to, label, icon }) => ({ id: to, label: t(label), icon, act: () => go(to) })),
  ...sectionsFor(role).map(({ id, label }) => ({
    id: `settings ${id}`,
    label: t('shell.settings-of', { name: t(label) }),
    icon: 'sliders' as const,
    act: () => go(`/settings/${id}`),
  })),
]

const icons: Record<Theme, IconName> = { system: 'panel', light: 'eye', dark: 'spark' }

const ofPage = ({ leave }: Where): Command[] => [
  ...themes
    .filter((one) => one !== theme())
    .map((one) => ({
      id: `theme ${one}`,
      label: t(`command.theme.${one}`),
      icon: icons[one],
      act: () => setTheme(one),
    })),
  ...(Object.keys(languages) as Language[])
    .filter((one) => one !== currentLanguage())
    .map((one) => ({
      id: `language ${one}`,
      label: t('command.language', { name: languages[one] }),
      icon: 'globe' as const,
      act: () => void chooseLanguage(one),
    })),
  { id: 'sidebar', label: t('command.sidebar'), icon: 'panel', act: toggleSidebar },
  { id: 'leave', label: t('shell.sign-out'), icon: 'left', act: leave },
]
