import type { Settings } from '@parley/contract/settings'
import { useMutation, useQuery } from '@tanstack/react-query'
import { type FormEvent, useRef, useState } from 'react'
import { client } from '../api.ts'
import { t } from '../i18n/translate.ts'
import { ModelPicker } from '../models/ModelPicker.tsx'
import { Button } from '../ui/Button.tsx'
import { ErrorNote } from '../ui/ErrorNote.tsx'
import { Field } from '../ui/Field.tsx'
import { Loading } from '../ui/Loading.tsx'
import { SaveBar } from '../ui/SaveBar.tsx'
import { Section } from '../ui/Section.tsx'
import { demoModel, settings, useSettingsChange } from './settings.ts'
import { Tried } from './Tried.tsx'

/** The model of new conversations, the key to it, and where it is. `onSaved`: what comes next in a tour. */
export function ModelForm({ onSaved }: { onSaved?: () => void }) {
  const stored = useQuery(settings)
  if (stored.data === undefined) return stored.error === null ? <Loading /> : <ErrorNote error={stored.error} />
  const { llm_base_url, llm_api_key_set } = stored.data
  return (
    <Form
      key={`${llm_base_url} ${llm_api_key_set}`}
      stored={stored.data}
      {...(onSaved === undefined ? {} : { onSaved })}
    />
  )
}

function Form({ stored, onSaved }: { stored: Settings; onSaved?: () => void }) {
  const [model, setModel] = useState(stored.llm_model)
  const form = useRef<HTMLFormElement>(null)
  const change = useSettingsChange()
  const test = useMutation({ mutationFn: () => client.models.test({ body: said() }) })
  /** What the form says; a key that is not written is the stored one. */
  const said = () => {
    const data = new FormData(form.current ?? undefined)
    const key = String(data.get('key'))
    const place = { llm_model: model ?? '', llm_base_url: String(data.get('base')) }
    return key === '' ? place : { ...place, llm_api_key: key }
  }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    change.mutate(said(), { onSuccess: () => onSaved?.() })
  }
  const edited = () => {
    test.reset()
    change.reset()
  }
  return (
    <Section title={t('settings.model')} about={t('settings.model.about')}>
      <form ref={form} onSubmit={submit} onChange={edited} className="grid gap-4">
        <div>
          <ModelPicker
            value={model}
            none={t('settings.model.none', { model: demoModel })}
            onPick={(name) => {
              setModel(name)
              edited()
            }}
          />
        </div>
        <Inputs stored={stored} />
        <Tried model={test.data} error={test.error} isPending={test.isPending} />
        <div className="flex flex-wrap items-start gap-3">
          <SaveBar saved={change.isSuccess} busy={change.isPending} error={change.error} />
          <Button busy={test.isPending} onClick={() => test.mutate()}>
            {t('settings.model.test')}
          </Button>
          {stored.llm_api_key_set && (
            <Button kind="danger" onClick={() => change.mutate({ llm_api_key: '' })}>
              {t('settings.secret.remove')}
            </Button>
          )}
        </div>
      </form>
    </Section>
  )
}

const Inputs = ({ stored }: { stored: Settings }) => (
  <>
    <Field
      label={t('settings.model.key')}
      hint={stored.llm_api_key_set ? t('settings.model.key.kept') : t('settings.model.key.hint')}
    >
      {(tie) => (
        <input
          {...tie}
          className="field"
          name="key"
          type="password"
          autoComplete="off"
          maxLength={4096}
          placeholder={stored.llm_api_key_set ? '••••••••' : ''}
        />
      )}
    </Field>
    <Field label={t('settings.model.base')} hint={t('settings.model.base.hint')}>
      {(tie) => (
        <input
          {...tie}
          className="field"
          name="base"
          type="url"
          defaultValue={stored.llm_base_url ?? ''}
          placeholder="https://host/v1"
          maxLength={2048}
        />
      )}
    </Field>
  </>
)
