import { AgentSettings } from '@parley/contract/agent-settings'
import { Problem } from '@parley/contract/problems'
import { useQuery } from '@tanstack/react-query'
import { type FormEvent, useMemo, useState } from 'react'
import { t } from '../i18n/translate.ts'
import { ErrorNote } from '../ui/ErrorNote.tsx'
import { Loading } from '../ui/Loading.tsx'
import { SaveBar } from '../ui/SaveBar.tsx'
import { Section } from '../ui/Section.tsx'
import { agentGroups, membersIn } from './agent-groups.ts'
import { type Path, withValue } from './schema.ts'
import { type Draft, SchemaControl } from './SchemaControl.tsx'
import { settings, useSettingsChange } from './settings.ts'

/** All that can be said of the agent beyond the flat settings, member by member as the API names them. */
export function AgentSettingsForm() {
  const stored = useQuery(settings)
  if (stored.data === undefined) return stored.error === null ? <Loading /> : <ErrorNote error={stored.error} />
  return <Form stored={stored.data.agent_settings} />
}

interface Wrong {
  path: string
  message: string
}

/** What the schema has against these values. */
const wrongIn = (values: unknown): Wrong[] =>
  (AgentSettings.safeParse(values).error?.issues ?? []).map(({ path, message }) => ({ path: path.join('.'), message }))

/** What the service has against them, by the same places. */
const wrongBy = (error: unknown): Wrong[] =>
  error instanceof Problem
    ? (error.extra.errors ?? [])
        .filter(({ loc }) => loc[1] === 'agent_settings')
        .map(({ loc, msg }) => ({ path: loc.slice(2).join('.'), message: msg }))
    : []

function Form({ stored }: { stored: AgentSettings | null }) {
  const change = useSettingsChange()
  const [values, setValues] = useState<unknown>(stored ?? undefined)
  const wrong = useMemo(() => [...wrongIn(values ?? {}), ...wrongBy(change.error)], [values, change.error])
  const draft: Draft = {
    values,
    put(path: Path, value: unknown) {
      change.reset()
      setValues((before: unknown) => withValue(before, path, value))
    },
    // What is wrong inside of a member that is one field is said at that field.
    wrongAt: (path) => {
      const place = path.join('.')
      return wrong.find((one) => one.path === place || one.path.startsWith(`${place}.`))?.message
    },
  }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    const checked = AgentSettings.safeParse(values ?? {})
    // Sent as it was written: asterisks stand for keys that are stored, and what is not said stays unsaid.
    if (checked.success) change.mutate({ agent_settings: (values as AgentSettings | undefined) ?? null })
  }
  return (
    <form onSubmit={submit} noValidate>
      <p className="mb-4 max-w-prose text-sm text-soft">{t('settings.advanced.about')}</p>
      {agentGroups.map((group) => (
        <Section key={group.id} title={t(group.title)} about={t(`${group.title}.about`)}>
          <div className="grid gap-3 sm:grid-cols-2">
            {membersIn(group).map(({ member, path }) => (
              <SchemaControl key={member.name} member={member} path={path} draft={draft} />
            ))}
          </div>
        </Section>
      ))}
      {wrong.length > 0 && (
        <p role="alert" className="mb-3 text-sm text-bad">
          {t('agent.wrong', { count: wrong.length })} {wrong.map(({ path }) => path).join(', ')}
        </p>
      )}
      <SaveBar saved={change.isSuccess} busy={change.isPending} error={change.error} />
    </form>
  )
}
