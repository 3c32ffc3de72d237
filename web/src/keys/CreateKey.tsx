import { type Scope, scopes } from '@parley/contract/endpoint'
import { defaultScopes } from '@parley/contract/keys'
import { useMutation } from '@tanstack/react-query'
import type { FormEvent } from 'react'
import { client } from '../api.ts'
import { t } from '../i18n/translate.ts'
import { Button } from '../ui/Button.tsx'
import { Dialog } from '../ui/Dialog.tsx'
import { ErrorNote } from '../ui/ErrorNote.tsx'
import { Field } from '../ui/Field.tsx'
import { ShownOnce } from '../ui/ShownOnce.tsx'

/** Days. */
const lives = [7, 30, 90, 365]
const usual: readonly Scope[] = defaultScopes

interface Asked {
  name: string | null
  expires_at: string | null
  scopes: Scope[]
}

const askedBy = (form: FormData): Asked => {
  const days = Number(form.get('days'))
  return {
    name: String(form.get('name')).trim() || null,
    expires_at: days === 0 ? null : new Date(Date.now() + days * 86_400_000).toISOString(),
    scopes: scopes.filter((scope) => form.get(scope) === 'on'),
  }
}

export function CreateKey({ onClose }: { onClose: () => void }) {
  const create = useMutation({ mutationFn: (body: Asked) => client.keys.create({ body }) })
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    create.mutate(askedBy(new FormData(event.currentTarget)))
  }
  return (
    <Dialog title={t('keys.create')} onClose={onClose}>
      {create.data !== undefined ? (
        <ShownOnce text={create.data.key} about={t('keys.shown-once')} onClose={onClose} />
      ) : (
        <form onSubmit={submit} className="grid gap-4">
          <Field label={t('keys.name')}>
            {(tie) => <input {...tie} className="field" name="name" maxLength={255} autoComplete="off" />}
          </Field>
          <Field label={t('keys.expires')}>
            {(tie) => (
              <select {...tie} className="field chosen" name="days" defaultValue="0">
                <option value="0">{t('keys.never')}</option>
                {lives.map((count) => (
                  <option key={count} value={count}>
                    {t('keys.in', { count })}
                  </option>
                ))}
              </select>
            )}
          </Field>
          <details>
            <summary className="text-sm font-medium">{t('keys.scopes')}</summary>
            <fieldset className="mt-2 grid grid-cols-1 gap-1 sm:grid-cols-2">
              <legend className="sr-only">{t('keys.scopes')}</legend>
              {scopes.map((scope) => (
                <label key={scope} className="flex items-center gap-2 text-sm">
                  <input type="checkbox" name={scope} defaultChecked={usual.includes(scope)} />
                  {scope}
                </label>
              ))}
            </fieldset>
          </details>
          <ErrorNote error={create.error} />
          <div className="flex justify-end gap-2">
            <Button onClick={onClose}>{t('ui.cancel')}</Button>
            <Button type="submit" kind="primary" busy={create.isPending}>
              {t('keys.create.do')}
            </Button>
          </div>
        </form>
      )}
    </Dialog>
  )
}
