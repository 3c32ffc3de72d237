import { type Scope, scopes } from '@parley/contract/endpoint'
import { defaultScopes, type NewApiKey } from '@parley/contract/keys'
import { useMutation } from '@tanstack/react-query'
import type { FormEvent } from 'react'
import { client } from '../api.ts'
import { Button } from '../ui/Button.tsx'
import { CopyButton } from '../ui/CopyButton.tsx'
import { Dialog } from '../ui/Dialog.tsx'
import { ErrorNote } from '../ui/ErrorNote.tsx'
import { Field } from '../ui/Field.tsx'

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
    <Dialog title="Create API Key" onClose={onClose}>
      {create.data !== undefined ? (
        <Shown made={create.data} onClose={onClose} />
      ) : (
        <form onSubmit={submit} className="grid gap-4">
          <Field label="Name">
            {(tie) => <input {...tie} className="field" name="name" maxLength={255} autoComplete="off" />}
          </Field>
          <Field label="Expires">
            {(tie) => (
              <select {...tie} className="field" name="days" defaultValue="0">
                <option value="0">Never</option>
                <option value="7">In 7 days</option>
                <option value="30">In 30 days</option>
                <option value="90">In 90 days</option>
                <option value="365">In a year</option>
              </select>
            )}
          </Field>
          <details>
            <summary className="text-sm font-medium">What it may do</summary>
            <fieldset className="mt-2 grid grid-cols-1 gap-1 sm:grid-cols-2">
              <legend className="sr-only">Scopes</legend>
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
            <Button onClick={onClose}>Cancel</Button>
            <Button type="submit" kind="primary" busy={create.isPending}>
              Create
            </Button>
          </div>
        </form>
      )}
    </Dialog>
  )
}

function Shown({ made, onClose }: { made: NewApiKey; onClose: () => void }) {
  return (
    <div className="grid gap-3">
      <p>Copy it now. It is not kept and cannot be shown again.</p>
      <div className="flex items-center gap-2 rounded-lg bg-panel p-2">
        <code data-testid="new-key" className="min-w-0 flex-1 text-sm wrap-anywhere">
          {made.key}
        </code>
        <CopyButton text={made.key} />
      </div>
      <div className="flex justify-end">
        <Button kind="primary" onClick={onClose}>
          Done
        </Button>
      </div>
    </div>
  )
}
