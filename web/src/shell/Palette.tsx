import type { AppConversation } from '@parley/contract/conversations'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useLocation, useNavigate } from '@tanstack/react-router'
import { Command, defaultFilter } from 'cmdk'
import { useDeferredValue, useEffect, useRef, useState } from 'react'
import { client, queries } from '../api.ts'
import { tell, type Verb } from '../conversations/verbs.ts'
import { t } from '../i18n/translate.ts'
import { ErrorNote } from '../ui/ErrorNote.tsx'
import { Icon } from '../ui/Icon.tsx'
import { StatusChip } from '../ui/StatusChip.tsx'
import { visible } from '../ui/visible.ts'
import { me } from '../users/me.ts'
import { latest } from './attention.ts'
import { commandsFor } from './commands.ts'

const item =
  'flex min-h-10 cursor-pointer items-center gap-3 rounded-lg px-3 py-1.5 text-sm data-[selected=true]:bg-tint'
const group =
  '[&_[cmdk-group-heading]]:px-3 [&_[cmdk-group-heading]]:py-1.5 [&_[cmdk-group-heading]]:text-xs [&_[cmdk-group-heading]]:text-soft'

/** What fits the words best first, whatever letters are left out; all of it without words. */
function ranked<T>(all: readonly T[], words: string, nameOf: (one: T) => string): T[] {
  if (words === '') return [...all]
  return all
    .map((one) => ({ one, score: defaultFilter(nameOf(one), words) }))
    .filter(({ score }) => score > 0)
    .toSorted((a, b) => b.score - a.score)
    .map(({ one }) => one)
}

/** Type to go anywhere or do anything: conversations by title, pages, settings, and what can be done where one is. */
export function Palette({ onClose }: { onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null)
  const [words, setWords] = useState('')
  useEffect(() => {
    const element = dialog.current
    element?.showModal()
    return () => element?.close()
  }, [])
  return (
    <dialog
      ref={dialog}
      aria-label={t('shell.search')}
      onClose={onClose}
      onMouseDown={(event) => event.target === dialog.current && onClose()}
      className="card mx-auto mt-[12vh] w-[min(38rem,calc(100vw-2rem))] bg-raised text-ink shadow-2xl"
    >
      <Command shouldFilter={false} loop label={t('shell.search')}>
        <div className="flex items-center gap-3 border-b border-line px-4">
          <Icon name="search" className="size-4 text-soft" />
          <Command.Input
            autoFocus
            value={words}
            onValueChange={setWords}
            placeholder={t('shell.search.hint')}
            className="w-full bg-transparent py-3.5 outline-none"
          />
        </div>
        <Found words={words.trim()} onClose={onClose} />
      </Command>
    </dialog>
  )
}

function Found({ words, onClose }: { words: string; onClose: () => void }) {
  const conversations = useConversations(words)
  const { commands, error } = useCommands(onClose)
  const navigate = useNavigate()
  const open = (id: string) => {
    onClose()
    void navigate({ to: '/conversations/$id', params: { id } })
  }
  const shown = ranked(commands, words, ({ label }) => label)
  return (
    <Command.List className="max-h-[55vh] overflow-y-auto p-2">
      <ErrorNote error={error} />
      <Command.Empty className="p-3 text-sm text-soft">{t('shell.search.none')}</Command.Empty>
      {conversations.length > 0 && (
        <Command.Group heading={t('shell.conversations')} className={group}>
          {conversations.slice(0, words === '' ? 5 : 8).map((one) => (
            <Command.Item key={one.id} value={one.id} className={item} onSelect={() => open(one.id)}>
              <Icon name="chat" className="size-4 text-soft" />
              <span className="min-w-0 flex-1 truncate">{visible(one.title ?? t('ui.untitled'))}</span>
              <StatusChip of={one} />
            </Command.Item>
          ))}
        </Command.Group>
      )}
      {shown.length > 0 && (
        <Command.Group heading={t('command.title')} className={group}>
          {shown.map(({ id, label, icon, act }) => (
            <Command.Item key={id} value={id} className={item} onSelect={act}>
              <Icon name={icon} className="size-4 text-soft" />
              {label}
            </Command.Item>
          ))}
        </Command.Group>
      )}
    </Command.List>
  )
}

/** Of the last ones those that fit at once, and of all what the service finds. */
function useConversations(words: string): AppConversation[] {
  // What is here is shown with the letter that was typed: the list marks its first line then.
  const asked = useDeferredValue(words)
  const { data: last } = useQuery(latest)
  const found = useQuery({
    queryKey: ['conversations', 'palette', asked],
    queryFn: () => client.conversations.search({ query: { limit: 8, title__contains: asked } }),
    enabled: asked !== '',
  })
  const near = ranked(last?.items ?? [], words, ({ title }) => title ?? t('ui.untitled'))
  const known = new Set(near.map(({ id }) => id))
  return [...near, ...(found.data?.items ?? []).filter(({ id }) => !known.has(id))]
}

function useCommands(onClose: () => void) {
  const navigate = useNavigate()
  const { data: person } = useQuery(me)
  const id = useLocation({ select: ({ pathname }) => /^\/conversations\/([^/]+)$/.exec(pathname)?.[1] })
  const one = id === undefined ? undefined : queries.getQueryData<AppConversation>(['conversation', id])
  const leave = useMutation({ mutationFn: () => client.users.signOut(), onSuccess: () => location.assign('/sign-in') })
  const told = useMutation({
    mutationFn: (asked: { id: string; verb: Verb | 'condense' }) => tell(asked.id, asked.verb),
    onSuccess: onClose,
  })
  const commands = commandsFor({
    one,
    role: person?.role,
    go: (href) => void navigate({ href }),
    tell: (conversation, verb) => told.mutate({ id: conversation, verb }),
    leave: () => leave.mutate(),
  })
  // What has to be waited for closes the palette itself, or says in it what went wrong.
  const waits = new Set(['pause', 'interrupt', 'resume', 'run', 'condense', 'leave'])
  return {
    error: told.error ?? leave.error,
    commands: commands.map((command) => ({
      ...command,
      act: () => {
        if (!waits.has(command.id)) onClose()
        command.act()
      },
    })),
  }
}
