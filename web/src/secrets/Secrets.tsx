import { useMutation, useQuery } from '@tanstack/react-query'
import type { FormEvent } from 'react'
import { client, queries } from '../api.ts'
import { t } from '../i18n/translate.ts'
import { Button } from '../ui/Button.tsx'
import { DeleteButton } from '../ui/DeleteButton.tsx'
import { ErrorNote } from '../ui/ErrorNote.tsx'
import { Field } from '../ui/Field.tsx'
import { Loading } from '../ui/Loading.tsx'
import { Section } from '../ui/Section.tsx'
import { visible } from '../ui/visible.ts'

const key = ['secrets']
const refresh = () => queries.invalidateQueries({ queryKey: key })

/** Custom secrets: names and what they are for. A value goes in and never comes out. */
export function Secrets() {
  const found = useQuery({ queryKey: key, queryFn: () => client.secrets.list() })
  const secrets = found.data?.custom_secrets
  return (
    <>
      <Section title={t('settings.secrets')} about={t('secrets.about')}>
        <ErrorNote error={found.error} />
        {found.isLoading && <Loading />}
        {secrets?.length === 0 && <p className="text-soft">{t('secrets.none')}</p>}
        {secrets !== undefined && secrets.length > 0 && (
          <ul className="divide-y divide-line">
            {secrets.map(({ name, description }) => (
              <li key={name} className="flex flex-wrap items-center gap-x-3 py-2">
                <code className="wrap-anywhere">{name}</code>
                <span className="text-sm text-soft">{visible(description ?? '')}</span>
                <span className="ml-auto">
                  <DeleteButton
                    what={name}
                    warning={t('secrets.delete.warning')}
                    onDelete={() => client.secrets.delete({ params: { id: name } }).then(refresh)}
                  />
                </span>
              </li>
            ))}
          </ul>
        )}
      </Section>
      <NewSecret />
    </>
  )
}

function NewSecret() {
  const add = useMutation({
    mutationFn: (body: { name: string; value: string; description: string | null }) => client.secrets.create({ body }),
    onSuccess: refresh,
  })
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = event.currentTarget
    const said = new FormData(form)
    const description = String(said.get('description'))
    const body = { name: String(said.get('name')), value: String(said.get('value')), description: description || null }
    add.mutate(body, { onSuccess: () => form.reset() })
  }
  return (
    <Section title={t('secrets.add')}>
      <form onSubmit={submit} className="grid gap-3">
        <Field label={t('secrets.name')} hint={t('secrets.name.hint')}>
          {(tie) => (
            <input
              {...tie}
              className="field font-mono"
              name="name"
              pattern="[A-Za-z_][A-Za-z0-9_]*"
              maxLength={255}
              required
              autoComplete="off"
            />
          )}
        </Field>
        <Field label={t('secrets.value')}>
          {(tie) => (
            <textarea
              {...tie}
              className="field font-mono"
              name="value"
              rows={2}
              maxLength={65536}
              required
              autoComplete="off"
            />
          )}
        </Field>
        <Field label={t('secrets.description')}>
          {(tie) => <input {...tie} className="field" name="description" maxLength={1000} />}
        </Field>
        <ErrorNote error={add.error} />
        <div>
          <Button type="submit" kind="primary" busy={add.isPending}>
            {t('secrets.add.do')}
          </Button>
        </div>
      </form>
    </Section>
  )
}
