import { webhookTypes } from '@parley/contract/webhook-subscriptions'
import { useMutation } from '@tanstack/react-query'
import type { FormEvent } from 'react'
import { client } from '../api.ts'
import { t } from '../i18n/translate.ts'
import { Button } from '../ui/Button.tsx'
import { Dialog } from '../ui/Dialog.tsx'
import { ErrorNote } from '../ui/ErrorNote.tsx'
import { Field } from '../ui/Field.tsx'
import { ShownOnce } from '../ui/ShownOnce.tsx'

const asked = (form: FormData) => ({
  name: String(form.get('name')).trim() || null,
  url: String(form.get('url')).trim(),
  types: webhookTypes.filter((type) => form.get(type) === 'on'),
})
const usual: readonly string[] = ['conversation.finished', 'conversation.status_changed']

export function NewWebhook({ onClose }: { onClose: () => void }) {
  const create = useMutation({
    mutationFn: (body: ReturnType<typeof asked>) => client.webhookSubscriptions.create({ body }),
  })
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    create.mutate(asked(new FormData(event.currentTarget)))
  }
  if (create.data !== undefined)
    return (
      <Dialog title={t('webhooks.secret')} onClose={onClose}>
        <ShownOnce text={create.data.secret} about={t('webhooks.secret.about')} onClose={onClose} />
      </Dialog>
    )
  return (
    <Dialog title={t('webhooks.add')} onClose={onClose}>
      <form onSubmit={submit} className="grid gap-4">
        <Field label={t('webhooks.name')}>
          {(tie) => <input {...tie} className="field" name="name" maxLength={255} autoComplete="off" />}
        </Field>
        <Field label={t('webhooks.url')}>
          {(tie) => (
            <input
              {...tie}
              className="field"
              name="url"
              type="url"
              required
              maxLength={2048}
              placeholder="https://host/hook"
            />
          )}
        </Field>
        <fieldset className="grid gap-1">
          <legend className="mb-1 text-sm font-medium">{t('webhooks.types')}</legend>
          {webhookTypes.map((type) => (
            <label key={type} className="flex min-h-7 items-center gap-2 text-sm">
              <input type="checkbox" name={type} defaultChecked={usual.includes(type)} />
              {type}
            </label>
          ))}
        </fieldset>
        <ErrorNote error={create.error} />
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>{t('ui.cancel')}</Button>
          <Button type="submit" kind="primary" busy={create.isPending}>
            {t('webhooks.add.do')}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
