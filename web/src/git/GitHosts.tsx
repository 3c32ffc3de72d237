import type { GitProvider } from '@parley/contract/git-provider'
import { useMutation, useQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { client, queries } from '../api.ts'
import { t } from '../i18n/translate.ts'
import { settings } from '../settings/settings.ts'
import { Button } from '../ui/Button.tsx'
import { ErrorNote } from '../ui/ErrorNote.tsx'
import { Field } from '../ui/Field.tsx'
import { Section } from '../ui/Section.tsx'
import { visible } from '../ui/visible.ts'
import { accounts, hostLabel, hosts } from './accounts.ts'

const refresh = () => Promise.all(['git', 'settings'].map((key) => queries.invalidateQueries({ queryKey: [key] })))

/** The Git hosts that are connected, and connecting one more. */
export function GitHosts() {
  const connected = useQuery(accounts)
  const leave = useMutation({
    mutationFn: (provider: GitProvider) => client.git.disconnect({ query: { provider } }),
    onSuccess: refresh,
  })
  return (
    <Section title={t('settings.git')} about={t('git.about')}>
      <ErrorNote error={connected.error ?? leave.error} />
      {connected.data !== undefined && connected.data.length > 0 && (
        <ul className="divide-y divide-line">
          {connected.data.map((account) => (
            <li key={account.git_provider} className="flex flex-wrap items-center gap-2 py-2">
              <span className="font-medium">{hostLabel(account.git_provider)}</span>
              <span className="text-soft">
                {account.host === null
                  ? visible(account.login)
                  : t('git.at', { login: visible(account.login), host: visible(account.host) })}
              </span>
              <Button
                kind="danger"
                className="ml-auto"
                busy={leave.isPending && leave.variables === account.git_provider}
                onClick={() => leave.mutate(account.git_provider)}
              >
                {t('git.disconnect')}
              </Button>
            </li>
          ))}
        </ul>
      )}
      <Connect />
    </Section>
  )
}

/** One more connection. The service replaces all by what is sent; an empty token keeps the stored one. */
async function connect(provider: GitProvider, token: string, host: string) {
  const { provider_tokens_set: stored } = await queries.query({ ...settings, staleTime: 0 })
  const kept = Object.entries(stored).map(([kind, at]) => [kind, { token: '', host: at ?? null }])
  const all = { ...Object.fromEntries(kept), [provider]: { token, host: host === '' ? null : host } }
  return client.git.connect({ body: { provider_tokens: all } })
}

function Connect() {
  const [provider, setProvider] = useState<GitProvider>('forge_a')
  const add = useMutation({
    mutationFn: ({ token, host }: { token: string; host: string }) => connect(provider, token, host),
    onSuccess: refresh,
  })
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = event.currentTarget
    const said = new FormData(form)
    add.mutate(
      { token: String(said.get('token')), host: String(said.get('host')).trim() },
      { onSuccess: () => form.reset() },
    )
  }
  return (
    <form onSubmit={submit} className="grid gap-3">
      <Field label={t('git.kind')}>
        {(tie) => (
          <select
            {...tie}
            className="field chosen"
            value={provider}
            onChange={(event) => setProvider(event.target.value as GitProvider)}
          >
            {hosts.map((one) => (
              <option key={one.provider} value={one.provider}>
                {one.label}
              </option>
            ))}
          </select>
        )}
      </Field>
      <Field label={t('git.token')} hint={provider === 'enterprise_sso' ? undefined : t(`git.hint.${provider}`)}>
        {(tie) => (
          <input {...tie} className="field" name="token" type="password" autoComplete="off" maxLength={4096} required />
        )}
      </Field>
      <Field label={t('git.address')} hint={t('git.address.hint')}>
        {(tie) => <input {...tie} className="field" name="host" placeholder="git.example.com" maxLength={2048} />}
      </Field>
      <ErrorNote error={add.error} />
      <div>
        <Button type="submit" busy={add.isPending}>
          {t('git.connect')}
        </Button>
      </div>
    </form>
  )
}
