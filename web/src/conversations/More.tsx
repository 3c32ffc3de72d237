import type { AppConversation } from '@parley/contract/conversations'
import { downloadTrajectory } from '@parley/contract/workspace'
import { useMutation } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { DropdownMenu } from 'radix-ui'
import { type ComponentType, useState } from 'react'
import { client, queries } from '../api.ts'
import { t } from '../i18n/translate.ts'
import { Button, buttonClass } from '../ui/Button.tsx'
import { Dialog } from '../ui/Dialog.tsx'
import { ErrorNote } from '../ui/ErrorNote.tsx'
import { Icon } from '../ui/Icon.tsx'
import { save } from '../ui/save.ts'
import { Fork } from './Fork.tsx'
import { markdownOf } from './markdown-export.ts'
import { Rename } from './Rename.tsx'
import { Share } from './Share.tsx'

const item = 'block w-full rounded px-3 py-2 text-left text-sm outline-none data-highlighted:bg-panel'

interface AskProps {
  of: AppConversation
  onClose: () => void
}

const dialogs = {
  rename: Rename,
  fork: ({ of, onClose }) => <Fork of={of} seq={of.last_seq} onClose={onClose} />,
  share: Share,
  delete: Delete,
} satisfies Record<string, ComponentType<AskProps>>

/** What is seldom done with a conversation. */
export function More({ of: one }: { of: AppConversation }) {
  const [asked, setAsked] = useState<keyof typeof dialogs | null>(null)
  const Asked = asked === null ? null : dialogs[asked]
  const write = useMutation({ mutationFn: () => markdownOf(one), onSuccess: (text) => save('conversation.md', text) })
  return (
    <>
      <DropdownMenu.Root modal={false}>
        <DropdownMenu.Trigger aria-label={t('more.label')} className={buttonClass('quiet', 'px-2!')}>
          <Icon name="dots" />
        </DropdownMenu.Trigger>
        <DropdownMenu.Portal>
          <DropdownMenu.Content align="end" sideOffset={6} className="card z-10 min-w-48 p-1 shadow-lg">
            <DropdownMenu.Item className={item} onSelect={() => setAsked('rename')}>
              {t('more.rename')}
            </DropdownMenu.Item>
            <DropdownMenu.Item className={item} onSelect={() => setAsked('share')}>
              {t('more.share')}
            </DropdownMenu.Item>
            {one.last_seq > 0 && (
              <DropdownMenu.Item className={item} onSelect={() => setAsked('fork')}>
                {t('more.fork')}
              </DropdownMenu.Item>
            )}
            <DropdownMenu.Item className={item} onSelect={() => write.mutate()}>
              {t('more.export')}
            </DropdownMenu.Item>
            <DropdownMenu.Item asChild>
              <a className={item} href={downloadTrajectory.path.replace('{id}', one.id)} download>
                {t('more.download')}
              </a>
            </DropdownMenu.Item>
            <DropdownMenu.Item className={item} onSelect={() => void navigator.clipboard?.writeText(one.id)}>
              {t('more.copy-id')}
            </DropdownMenu.Item>
            <DropdownMenu.Item className={`${item} text-bad`} onSelect={() => setAsked('delete')}>
              {t('ui.delete')}
            </DropdownMenu.Item>
          </DropdownMenu.Content>
        </DropdownMenu.Portal>
      </DropdownMenu.Root>
      {write.error !== null && (
        <span role="alert" className="self-center text-sm text-bad">
          {write.error.message}
        </span>
      )}
      {Asked !== null && <Asked of={one} onClose={() => setAsked(null)} />}
    </>
  )
}

function Delete({ of: { id }, onClose }: AskProps) {
  const navigate = useNavigate()
  const remove = useMutation({
    mutationFn: () => client.conversations.delete({ params: { id } }),
    onSuccess: async () => {
      await navigate({ to: '/conversations' })
      await queries.invalidateQueries({ queryKey: ['conversations'] })
    },
  })
  return (
    <Dialog title={t('more.delete.ask')} onClose={onClose}>
      <p>{t('more.delete.about')}</p>
      <ErrorNote error={remove.error} />
      <div className="mt-4 flex justify-end gap-2">
        <Button onClick={onClose}>{t('ui.keep')}</Button>
        <Button kind="danger" busy={remove.isPending} onClick={() => remove.mutate()}>
          {t('ui.delete')}
        </Button>
      </div>
    </Dialog>
  )
}
