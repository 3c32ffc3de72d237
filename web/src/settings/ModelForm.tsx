import type { Settings } from '@parley/contract/settings'
import { useQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { ModelPicker } from '../models/ModelPicker.tsx'
import { Button } from '../ui/Button.tsx'
import { ErrorNote } from '../ui/ErrorNote.tsx'
import { Field } from '../ui/Field.tsx'
import { Loading } from '../ui/Loading.tsx'
import { Section } from '../ui/Section.tsx'
import { demoModel, settings, useSettingsChange } from './settings.ts'

/** The model of new conversations, the key to it, and where it is. */
export function ModelForm() {
  const stored = useQuery(settings)
  if (stored.data === undefined)
    return stored.error === null ? <Loading what="the settings" /> : <ErrorNote error={stored.error} />
  return <Form stored={stored.data} />
}

function Form({ stored }: { stored: Settings }) {
  const [model, setModel] = useState(stored.llm_model)
  const change = useSettingsChange()
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = event.currentTarget
    const said = new FormData(form)
    const key = String(said.get('key'))
    const body = {
      llm_model: model ?? '',
      llm_base_url: String(said.get('base')),
      ...(key === '' ? {} : { llm_api_key: key }),
    }
    change.mutate(body, { onSuccess: () => (form.elements.namedItem('key') as HTMLInputElement | null)?.form?.reset() })
  }
  return (
    <Section title="Model" about="New conversations use it; those under way keep what they have.">
      <form onSubmit={submit} className="grid gap-4" key={`${stored.llm_base_url} ${stored.llm_api_key_set}`}>
        <div>
          <ModelPicker value={model} none={`${demoModel} (needs no key)`} onPick={setModel} />
        </div>
        <Field
          label="API key of the model"
          hint={
            stored.llm_api_key_set
              ? 'A key is stored. Leave this empty to keep it.'
              : 'Stays on the server and never reaches a sandbox.'
          }
        >
          {(tie) => <input {...tie} className="field" name="key" type="password" autoComplete="off" maxLength={4096} />}
        </Field>
        <Field
          label="Base URL"
          hint="For a server of your own that speaks the OpenAI protocol, such as Ollama or vLLM."
        >
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
        <ErrorNote error={change.error} />
        <div className="flex flex-wrap items-center gap-3">
          <Button type="submit" kind="primary" busy={change.isPending}>
            Save
          </Button>
          {stored.llm_api_key_set && (
            <Button kind="danger" onClick={() => change.mutate({ llm_api_key: '' })}>
              Remove the key
            </Button>
          )}
          <span role="status" className="text-sm text-good">
            {change.isSuccess ? 'Saved' : ''}
          </span>
        </div>
      </form>
    </Section>
  )
}
