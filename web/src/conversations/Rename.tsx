import type { AppConversation, ConversationUpdate } from '@parley/contract/conversations'
import { useMutation } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { client, queries } from '../api.ts'
import { t } from '../i18n/translate.ts'
import { Button } from '../ui/Button.tsx'
import { Dialog } from '../ui/Dialog.tsx'
import { ErrorNote } from '../ui/ErrorNote.tsx'
import { Field } from '../ui/Field.tsx'
import { linesOfTags, tagsOfLines } from './tag-lines.ts'

/** Title and labels. */
export function Rename({ of: one, onClose }: { of: AppConversation; onClose: () => void }) {
  const [isBad, setBad] = useState(false)
  const save = useMutation({
    mutationFn: (body: ConversationUpdate) => client.conversations.update({ params: { id: one.id }, body }),
    onSuccess: (changed) => {
      queries.setQueryData(['conversation', one.id], changed)
      onClose()
    },
  })
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    const tags = tagsOfLines(String(form.get('tags')))
    setBad(tags === null)
    if (tags !== null) save.mutate({ title: String(form.get('title')), tags })
  }
  return (
    <Dialog title={t('more.rename')} onClose={onClose}>
      <form onSubmit={submit} className="grid gap-4">
        <Field label={t('more.title')}>
          {(tie) => (
            <input {...tie} className="field" name="title" defaultValue={one.title ?? ''} maxLength={200} required />
          )}
        </Field>
        <Field label={t('more.tags')} hint={t('more.tags.about')} error={isBad ? t('more.tags.bad') : undefined}>
          {(tie) => <textarea {...tie} className="field" name="tags" rows={3} defaultValue={linesOfTags(one.tags)} />}
        </Field>
        <ErrorNote error={save.error} />
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>{t('ui.cancel')}</Button>
          <Button type="submit" kind="primary" busy={save.isPending}>
            {t('ui.save')}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
