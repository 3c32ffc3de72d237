import { useMutation, useQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { client, queries } from '../api.ts'
import { chooseLanguage, chosenLanguage, languageOf, ofBrowser } from '../i18n/language.ts'
import { type Language, languages, t } from '../i18n/translate.ts'
import { useSettingsChange } from '../settings/settings.ts'
import { setTheme, theme, themes } from '../theme.ts'
import { Button } from '../ui/Button.tsx'
import { ErrorNote } from '../ui/ErrorNote.tsx'
import { Field } from '../ui/Field.tsx'
import { Section } from '../ui/Section.tsx'
import { me } from './me.ts'
import { Sessions } from './Sessions.tsx'

export function Profile() {
  return (
    <>
      <Name />
      <Password />
      <Appearance />
      <Speech />
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
    <Section
      title={t('users.profile')}
      about={`${data.email ?? t('users.no-email')} · ${t(`users.role.${data.role}`)}`}
    >
      <form onSubmit={submit} className="grid gap-3">
        <Field label={t('users.name')} hint={t('users.name.hint')}>
          {(tie) => <input {...tie} className="field" name="name" defaultValue={data.name ?? ''} maxLength={255} />}
        </Field>
        <ErrorNote error={save.error} />
        <Saved saved={save.isSuccess}>
          <Button type="submit" kind="primary" busy={save.isPending}>
            {t('ui.save')}
          </Button>
        </Saved>
      </form>
    </Section>
  )
}

function Password() {
  const { data } = useQuery(me)
  const change = useMutation({
    mutationFn: (body: { old_password: string | null; new_password: string }) => client.users.changePassword({ body }),
    onSuccess: () => queries.invalidateQueries({ queryKey: me.queryKey }),
  })
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = event.currentTarget
    const said = new FormData(form)
    const old = said.get('old')
    const body = { old_password: old === null ? null : String(old), new_password: String(said.get('new')) }
    change.mutate(body, { onSuccess: () => form.reset() })
  }
  if (data === undefined) return null
  const about = t(data.has_password ? 'users.password.about' : 'users.password.first')
  return (
    <Section title={t('users.password')} about={about}>
      <form onSubmit={submit} className="grid gap-3">
        {data.has_password && (
          <Field label={t('users.password.old')}>
            {(tie) => (
              <input {...tie} className="field" name="old" type="password" autoComplete="current-password" required />
            )}
          </Field>
        )}
        <Field label={t('users.password.new')} hint={t('users.password.hint')}>
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
            {t(data.has_password ? 'users.password.change' : 'users.password.set')}
          </Button>
        </Saved>
      </form>
    </Section>
  )
}

function Appearance() {
  const [chosen, choose] = useState(theme)
  return (
    <Section title={t('users.appearance')}>
      <fieldset className="flex flex-wrap gap-4">
        <legend className="sr-only">{t('users.colours')}</legend>
        {themes.map((one) => (
          <label key={one} className="flex min-h-9 items-center gap-2">
            <input
              type="radio"
              name="theme"
              checked={chosen === one}
              onChange={() => {
                setTheme(one)
                choose(one)
              }}
            />
            {t(`users.theme.${one}`)}
          </label>
        ))}
      </fieldset>
    </Section>
  )
}

function Speech() {
  const [chosen, choose] = useState(chosenLanguage)
  const change = useSettingsChange()
  const pick = (one: Language | null) => {
    choose(one)
    change.mutate({ language: one }, { onSuccess: () => chooseLanguage(one) })
  }
  return (
    <Section title={t('users.language')}>
      <select
        aria-label={t('users.language')}
        className="field w-auto chosen"
        value={chosen ?? ''}
        onChange={({ target }) => pick(languageOf(target.value) ?? null)}
      >
        <option value="">{t('users.language.system', { language: languages[ofBrowser()] })}</option>
        {Object.entries(languages).map(([tag, name]) => (
          <option key={tag} value={tag} lang={tag}>
            {name}
          </option>
        ))}
      </select>
      <ErrorNote error={change.error} />
    </Section>
  )
}

function Saved({ saved, children }: { saved: boolean; children: React.ReactNode }) {
  return (
    <div className="flex items-center gap-3">
      {children}
      <span role="status" className="text-sm text-good">
        {saved ? t('ui.saved') : ''}
      </span>
    </div>
  )
}
