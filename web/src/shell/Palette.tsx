import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { Command } from 'cmdk'
import { useEffect, useRef, useState } from 'react'
import { client } from '../api.ts'
import { t } from '../i18n/translate.ts'
import { sectionsFor } from '../settings/sections.ts'
import { visible } from '../ui/visible.ts'
import { me } from '../users/me.ts'

const item = 'flex cursor-pointer items-center rounded-lg px-3 py-2 data-[selected=true]:bg-tint'

/** Type to go anywhere: pages, settings, and conversations by title. */
export function Palette({ onClose }: { onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null)
  const navigate = useNavigate()
  const { data: person } = useQuery(me)
  const [words, setWords] = useState('')
  useEffect(() => {
    const element = dialog.current
    element?.showModal()
    return () => element?.close()
  }, [])
  const title = words.trim()
  const found = useQuery({
    queryKey: ['conversations', 'palette', title],
    queryFn: () => client.conversations.search({ query: { limit: 8, ...(title ? { title__contains: title } : {}) } }),
  })
  const go = (href: string) => {
    onClose()
    void navigate({ href })
  }
  const pages = [
    [t('shell.new-conversation'), '/'],
    [t('shell.conversations'), '/conversations'],
    [t('shell.sandboxes'), '/sandboxes'],
    ...sectionsFor(person?.role).map(({ id, label }) => [
      t('shell.settings-of', { name: t(label) }),
      `/settings/${id}`,
    ]),
  ] as [string, string][]
  const shown = pages.filter(([label]) => label.toLowerCase().includes(title.toLowerCase()))
  return (
    <dialog
      ref={dialog}
      aria-label={t('shell.search')}
      onClose={onClose}
      onMouseDown={(event) => event.target === dialog.current && onClose()}
      className="card mx-auto mt-[12vh] w-[min(36rem,calc(100vw-2rem))] bg-raised text-ink shadow-xl"
    >
      <Command shouldFilter={false} label={t('shell.search')}>
        <Command.Input
          autoFocus
          value={words}
          onValueChange={setWords}
          placeholder={t('shell.search.hint')}
          className="w-full border-b border-line bg-transparent px-4 py-3 outline-none"
        />
        <Command.List className="max-h-[50vh] overflow-y-auto p-2">
          <Command.Empty className="p-3 text-soft">{t('shell.search.none')}</Command.Empty>
          {shown.map(([label, href]) => (
            <Command.Item key={href} value={href} className={item} onSelect={() => go(href)}>
              {label}
            </Command.Item>
          ))}
          {found.data?.items.map((one) => (
            <Command.Item key={one.id} value={one.id} className={item} onSelect={() => go(`/conversations/${one.id}`)}>
              <span className="truncate">{visible(one.title ?? t('ui.untitled'))}</span>
            </Command.Item>
          ))}
        </Command.List>
      </Command>
    </dialog>
  )
}
