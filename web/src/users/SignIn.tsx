import { startSso } from '@parley/contract/users'
import { useMutation, useQuery } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { type FormEvent, useEffect, useState } from 'react'
import { client, queries } from '../api.ts'
import { t } from '../i18n/translate.ts'
import { Button, buttonClass } from '../ui/Button.tsx'
import { ErrorNote } from '../ui/ErrorNote.tsx'
import { Field } from '../ui/Field.tsx'
import { Gate } from './Gate.tsx'
import { me } from './me.ts'

const route = getRouteApi('/sign-in')

/** With a token: the owner takes the account and chooses e-mail and password. Without: signing in. */
export function SignIn() {
  const { next, ...search } = route.useSearch()
  const [token] = useState(search.token)
  const navigate = useNavigate()
  const enter = useMutation({
    mutationFn: ({ email, password }: { email: string; password: string }) =>
      token === undefined
        ? client.users.signIn({ body: { email, password } })
        : client.users.claim({ body: { token, email, password } }),
    onSuccess: async ({ user }) => {
      queries.clear()
      queries.setQueryData(me.queryKey, user)
      // Only a path of our own: an address elsewhere would take the person who signs in away.
      const own = next !== undefined && /^\/(?![/\\])/.test(next) ? next : '/'
      await navigate({ href: token === undefined ? own : '/welcome', replace: true })
    },
  })
  // A one-time token must not stay in the address bar or the history.
  useEffect(() => {
    if (search.token !== undefined) void navigate({ to: '/sign-in', search: {}, replace: true })
  }, [navigate, search.token])
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    enter.mutate({ email: String(form.get('email')), password: String(form.get('password')) })
  }
  const isClaim = token !== undefined
  return (
    <Gate title={isClaim ? t('users.claim') : t('users.sign-in')}>
      {isClaim && <p className="text-soft">{t('users.claim.about')}</p>}
      <form onSubmit={submit} className="grid gap-4">
        <Field label={t('users.email')}>
          {(tie) => <input {...tie} className="field" name="email" type="email" autoComplete="username" required />}
        </Field>
        <Field label={t('users.password')} {...(isClaim ? { hint: t('users.password.hint') } : {})}>
          {(tie) => (
            <input
              {...tie}
              className="field"
              name="password"
              type="password"
              autoComplete={isClaim ? 'new-password' : 'current-password'}
              minLength={isClaim ? 12 : 1}
              maxLength={256}
              required
            />
          )}
        </Field>
        <ErrorNote error={enter.error} />
        <Button type="submit" kind="primary" busy={enter.isPending}>
          {isClaim ? t('users.claim.do') : t('users.sign-in')}
        </Button>
      </form>
      {!isClaim && <Provider />}
    </Gate>
  )
}

const failures: Record<string, 'users.sso-failed' | 'users.sso-not-allowed'> = {
  '#error=sso_failed': 'users.sso-failed',
  '#error=sso_not_allowed': 'users.sso-not-allowed',
}

/** The way in through an identity provider, where the server has one. */
function Provider() {
  const config = useQuery({
    queryKey: ['web-client'],
    queryFn: () => client.health.webClientConfig(),
    staleTime: Infinity,
  })
  const failure = failures[location.hash]
  return (
    <>
      {failure !== undefined && (
        <p role="alert" className="text-sm text-bad">
          {t(failure)}
        </p>
      )}
      {config.data?.sign_in.includes('enterprise_sso') === true && (
        <a href={startSso.path} className={buttonClass('plain')}>
          {t('users.sign-in.sso')}
        </a>
      )}
    </>
  )
}
