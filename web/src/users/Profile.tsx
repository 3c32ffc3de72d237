import { useMutation, useQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { client, queries } from '../api.ts'
import { setTheme, theme, themes } from '../theme.ts'
import { Button } from '../ui/Button.tsx'
import { ErrorNote } from '../ui/ErrorNote.tsx'
import { Field } from '../ui/Field.tsx'
import { Section } from '../ui/Section.tsx'
import { me } from './me.ts'

export function Profile() {
  return (
    <>
      <Name />
      <Password />
      <Appearance />
      <Sessions />
    </>
  )
}

function Name() {
  const { data } = useQuery(me)
  const save = useMutation({
    mutationFn: (name: string) => client.users.updateMe({ body: { name: name === '' ? null : name } }),
    onSuccess: (user) => queries.setQueryData(me.queryKey, user),
  })
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    save.mutate(String(new FormData(event.currentTarget).get('name')).trim())
  }
  if (data === undefined) return null
  return (
    <Section title="Profile" about={`${data.email ?? 'No e-mail'} · ${data.role}`}>
      <form onSubmit={submit} className="grid gap-3">
        <Field label="Name" hint="What others on this server see.">
          {(tie) => <input {...tie} className="field" name="name" defaultValue={data.name ?? ''} maxLength={255} />}
        </Field>
        <ErrorNote error={save.error} />
        <Saved saved={save.isSuccess}>
          <Button type="submit" kind="primary" busy={save.isPending}>
            Save
          </Button>
        </Saved>
      </form>
    </Section>
  )
}

function Password() {
  const change = useMutation({
    mutationFn: (body: { old_password: string; new_password: string }) => client.users.changePassword({ body }),
  })
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = event.currentTarget
    const said = new FormData(form)
    const body = { old_password: String(said.get('old')), new_password: String(said.get('new')) }
    change.mutate(body, { onSuccess: () => form.reset() })
  }
  return (
    <Section title="Password" about="Changing it ends all other browser sessions.">
      <form onSubmit={submit} className="grid gap-3">
        <Field label="Present password">
          {(tie) => (
            <input {...tie} className="field" name="old" type="password" autoComplete="current-password" required />
          )}
        </Field>
        <Field label="New password" hint="At least 12 characters.">
          {(tie) => (
            <input
              {...tie}
              className="field"
              name="new"
              type="password"
              autoComplete="new-password"
              minLength={12}
              required
            />
          )}
        </Field>
        <ErrorNote error={change.error} />
        <Saved saved={change.isSuccess}>
          <Button type="submit" busy={change.isPending}>
            Change the password
          </Button>
        </Saved>
      </form>
    </Section>
  )
}

function Appearance() {
  const [chosen, choose] = useState(theme)
  return (
    <Section title="Appearance">
      <fieldset className="flex flex-wrap gap-4">
        <legend className="sr-only">Colours</legend>
        {themes.map((one) => (
          <label key={one} className="flex min-h-9 items-center gap-2 capitalize">
            <input
              type="radio"
              name="theme"
              checked={chosen === one}
              onChange={() => {
                setTheme(one)
                choose(one)
              }}
            />
            {one}
          </label>
        ))}
      </fieldset>
    </Section>
  )
}

function Sessions() {
  const leave = useMutation({
    mutationFn: () => client.users.signOut({ query: { everywhere: 'true' } }),
    onSuccess: () => location.assign('/sign-in'),
  })
  return (
    <Section title="Sessions" about="Signs out every browser, this one too.">
      <ErrorNote error={leave.error} />
      <Button onClick={() => leave.mutate()} busy={leave.isPending}>
        Sign out everywhere
      </Button>
    </Section>
  )
}

function Saved({ saved, children }: { saved: boolean; children: React.ReactNode }) {
  return (
    <div className="flex items-center gap-3">
      {children}
      <span role="status" className="text-sm text-good">
        {saved ? 'Saved' : ''}
      </span>
    </div>
  )
}
