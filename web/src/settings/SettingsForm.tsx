import type { Settings } from '@parley/contract/settings'
import { useQuery } from '@tanstack/react-query'
import type { FormEvent } from 'react'
import { t } from '../i18n/translate.ts'
import { Button } from '../ui/Button.tsx'
import { ErrorNote } from '../ui/ErrorNote.tsx'
import { Loading } from '../ui/Loading.tsx'
import { SaveBar } from '../ui/SaveBar.tsx'
import { Section } from '../ui/Section.tsx'
import { FieldControl } from './FieldControl.tsx'
import { controls, forms, type Group } from './fields.ts'
import { saidIn } from './said.ts'
import { settings, useSettingsChange } from './settings.ts'

/** Groups of settings with one button that saves them. */
export function SettingsForm({ name }: { name: keyof typeof forms }) {
  const stored = useQuery(settings)
  if (stored.data === undefined) return stored.error === null ? <Loading /> : <ErrorNote error={stored.error} />
  return <Form groups={forms[name]} stored={stored.data} />
}

function Form({ groups, stored }: { groups: readonly Group[]; stored: Settings }) {
  const change = useSettingsChange()
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const fields = groups.flatMap((group) => group.fields)
    change.mutate(saidIn(new FormData(event.currentTarget), fields))
  }
  return (
    <form onSubmit={submit} onChange={() => change.isSuccess && change.reset()}>
      {groups.map(({ title, about, fields }) => (
        <Section key={title} title={t(title)} {...(about === undefined ? {} : { about: t(about) })}>
          {fields.map((field) => (
            <div key={field} className="grid gap-2">
              <FieldControl field={field} stored={stored} />
              <Clear field={field} stored={stored} onClear={(name) => change.mutate({ [name]: '' })} />
            </div>
          ))}
        </Section>
      ))}
      <SaveBar saved={change.isSuccess} busy={change.isPending} error={change.error} />
    </form>
  )
}

/** Takes a stored key away; there is nothing to see of it otherwise. */
function Clear(props: { field: keyof typeof controls; stored: Settings; onClear: (field: string) => void }) {
  const control = controls[props.field]
  if (control.kind !== 'secret' || !props.stored[control.set]) return null
  return (
    <div>
      <Button kind="danger" onClick={() => props.onClear(props.field)}>
        {t('settings.secret.remove')}
      </Button>
    </div>
  )
}
