import { startSso } from '@parley/contract/users'
import { useMutation, useQuery } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { type FormEvent, useEffect, useState } from 'react'
import { client, queries } from '../api.ts'
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
    <Gate title={isClaim ? 'Take the owner\u2019s account' : 'Sign in'}>
      {isClaim && <p className="text-soft">This link works once. Choose how you sign in from now on.</p>}
      <form onSubmit={submit} className="grid gap-4">
        <Field label="E-mail">
          {(tie) => <input {...tie} className="field" name="email" type="email" autoComplete="username" required />}
        </Field>
        <Field label="Password" {...(isClaim ? { hint: 'At least 12 characters.' } : {})}>
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
          {isClaim ? 'Create the account' : 'Sign in'}
        </Button>
      </form>
      {!isClaim && <Provider />}
    </Gate>
  )
}

const failures: Record<string, string> = {
  '#error=sso_failed': 'Signing in at the identity provider did not work. Try again.',
  '#error=sso_not_allowed': 'You have no account here. Ask the owner of this server to invite you.',
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
          {failure}
        </p>
      )}
      {config.data?.sign_in.includes('enterprise_sso') === true && (
        <a href={startSso.path} className={buttonClass('plain')}>
          Sign in with your organisation
        </a>
      )}
    </>
  )
}
