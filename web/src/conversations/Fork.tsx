import type { AppConversation } from '@parley/contract/conversations'
import { useMutation } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import type { FormEvent } from 'react'
import { client, queries } from '../api.ts'
import { t } from '../i18n/translate.ts'
import { Button } from '../ui/Button.tsx'
import { Dialog } from '../ui/Dialog.tsx'
import { ErrorNote } from '../ui/ErrorNote.tsx'
import { Field } from '../ui/Field.tsx'

/** Asks for a title and leads to another conversation that goes on from event `seq`. */
export function Fork({ of: one, seq, onClose }: { of: AppConversation; seq: number; onClose: () => void }) {
  const navigate = useNavigate()
  const fork = useMutation({
    mutationFn: (title: string) =>
      client.conversations.fork({
        params: { id: one.id },
        body: { from_seq: seq, title: title === '' ? null : title },
      }),
    onSuccess: async ({ id }) => {
      onClose()
      await navigate({ to: '/conversations/$id', params: { id } })
      await queries.invalidateQueries({ queryKey: ['conversations'] })
    },
  })
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    fork.mutate(String(new FormData(event.currentTarget).get('title')).trim())
  }
  return (
    <Dialog title={t('fork.title')} onClose={onClose}>
      <form onSubmit={submit} className="grid gap-4">
        <p>{t('fork.about', { seq })}</p>
        <Field label={t('fork.name')}>
          {(tie) => (
            <input
              {...tie}
              className="field"
              name="title"
              maxLength={200}
              placeholder={t('fork.usual', { title: one.title ?? '' })}
            />
          )}
        </Field>
        <ErrorNote error={fork.error} />
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>{t('ui.cancel')}</Button>
          <Button type="submit" kind="primary" busy={fork.isPending}>
            {t('fork.make')}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
