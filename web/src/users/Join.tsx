import { useMutation } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { client, queries } from '../api.ts'
import { t } from '../i18n/translate.ts'
import { Button } from '../ui/Button.tsx'
import { ErrorNote } from '../ui/ErrorNote.tsx'
import { Field } from '../ui/Field.tsx'
import { Gate } from './Gate.tsx'
import { me } from './me.ts'

/** The token stands behind the `#`, which browsers do not send, and leaves the address as soon as it is read. */
function takeToken(): string {
  const token = location.hash.slice(1)
  if (token !== '') history.replaceState(history.state, '', location.pathname)
  return token
}

/** Accepting an invitation: a name, a password, and in. */
export function Join() {
  const [token] = useState(takeToken)
  const navigate = useNavigate()
  const join = useMutation({
    mutationFn: (said: { name: string | null; password: string }) =>
      client.users.acceptInvitation({ body: { token, ...said } }),
    onSuccess: async ({ user }) => {
      queries.clear()
      queries.setQueryData(me.queryKey, user)
      await navigate({ to: '/welcome', replace: true })
    },
  })
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    join.mutate({ name: String(form.get('name')).trim() || null, password: String(form.get('password')) })
  }
  return (
    <Gate title={t('users.invited')}>
      <form onSubmit={submit} className="grid gap-4">
        <Field label={t('users.name')}>
          {(tie) => <input {...tie} className="field" name="name" autoComplete="name" maxLength={255} />}
        </Field>
        <Field label={t('users.password')} hint={t('users.password.hint')}>
          {(tie) => (
            <input
              {...tie}
              className="field"
              name="password"
              type="password"
              autoComplete="new-password"
              minLength={12}
              maxLength={256}
              required
            />
          )}
        </Field>
        <ErrorNote error={join.error} />
        <Button type="submit" kind="primary" busy={join.isPending}>
          {t('users.join')}
        </Button>
      </form>
    </Gate>
  )
}
