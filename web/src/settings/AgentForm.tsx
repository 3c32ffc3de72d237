import {
  groupingStrategies,
  type GroupingStrategy,
  type Settings,
  type SettingsUpdate,
} from '@parley/contract/settings'
import { useQuery } from '@tanstack/react-query'
import type { FormEvent } from 'react'
import { Button } from '../ui/Button.tsx'
import { ErrorNote } from '../ui/ErrorNote.tsx'
import { Field } from '../ui/Field.tsx'
import { Loading } from '../ui/Loading.tsx'
import { Section } from '../ui/Section.tsx'
import { settings, useSettingsChange } from './settings.ts'

const grouping: Record<GroupingStrategy, string> = {
  NO_GROUPING: 'Each conversation has its own',
  GROUP_BY_NEWEST: 'Join the newest',
  LEAST_RECENTLY_USED: 'Join the one used longest ago',
  FEWEST_CONVERSATIONS: 'Join the one with the fewest conversations',
  ADD_TO_ANY: 'Join any',
}

/** How the agent works: what it may spend, when it asks, how it signs its commits. */
export function AgentForm() {
  const stored = useQuery(settings)
  if (stored.data === undefined)
    return stored.error === null ? <Loading what="the settings" /> : <ErrorNote error={stored.error} />
  return <Form stored={stored.data} />
}

const number = (value: FormDataEntryValue | null): number | null =>
  typeof value === 'string' && value !== '' ? Number(value) : null
const text = (value: FormDataEntryValue | null): string | null =>
  typeof value === 'string' && value !== '' ? value : null

function updateOf(form: FormData): SettingsUpdate {
  const isOn = (name: string) => form.get(name) === 'on'
  return {
    confirmation_mode: isOn('confirm'),
    security_analyzer: isOn('risky') ? 'llm' : null,
    max_iterations: number(form.get('iterations')),
    max_budget_per_task: number(form.get('budget')),
    enable_default_condenser: isOn('condense'),
    setup_script_required: isOn('setup'),
    git_user_name: text(form.get('name')),
    git_user_email: text(form.get('email')),
    sandbox_grouping_strategy: form.get('grouping') as GroupingStrategy,
  }
}

function Form({ stored }: { stored: Settings }) {
  const change = useSettingsChange()
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    change.mutate(updateOf(new FormData(event.currentTarget)))
  }
  return (
    <form onSubmit={submit}>
      <Questions stored={stored} />
      <Bounds stored={stored} />
      <Place stored={stored} />
      <ErrorNote error={change.error} />
      <div className="flex items-center gap-3">
        <Button type="submit" kind="primary" busy={change.isPending}>
          Save
        </Button>
        <span role="status" className="text-sm text-good">
          {change.isSuccess ? 'Saved' : ''}
        </span>
      </div>
    </form>
  )
}

function Check({ name, on, children }: { name: string; on: boolean; children: string }) {
  return (
    <label className="flex min-h-9 items-center gap-2">
      <input type="checkbox" name={name} defaultChecked={on} />
      {children}
    </label>
  )
}

const Questions = ({ stored }: { stored: Settings }) => (
  <Section title="Confirmation" about="An action that asks waits for your answer before it is done.">
    <div>
      <Check name="confirm" on={stored.confirmation_mode === true}>
        Ask before the agent acts
      </Check>
      <Check name="risky" on={stored.security_analyzer === 'llm'}>
        Only when the model says that the action is risky
      </Check>
    </div>
  </Section>
)

const Bounds = ({ stored }: { stored: Settings }) => (
  <Section title="Bounds">
    <Field label="Budget for a task, in US dollars" hint="The agent stops before the call that would go over it.">
      {(tie) => (
        <input
          {...tie}
          className="field"
          name="budget"
          type="number"
          min={0}
          step="any"
          defaultValue={stored.max_budget_per_task ?? ''}
        />
      )}
    </Field>
    <Field label="Steps of one run" hint="Empty: what the server has set.">
      {(tie) => (
        <input
          {...tie}
          className="field"
          name="iterations"
          type="number"
          min={1}
          max={100000}
          defaultValue={stored.max_iterations ?? ''}
        />
      )}
    </Field>
    <Check name="condense" on={stored.enable_default_condenser}>
      Summarise a history that grows too long
    </Check>
  </Section>
)

const Place = ({ stored }: { stored: Settings }) => (
  <Section title="Sandbox and repository">
    <Field label="Which sandbox a new conversation uses">
      {(tie) => (
        <select {...tie} className="field" name="grouping" defaultValue={stored.sandbox_grouping_strategy}>
          {groupingStrategies.map((one) => (
            <option key={one} value={one}>
              {grouping[one]}
            </option>
          ))}
        </select>
      )}
    </Field>
    <Check name="setup" on={stored.setup_script_required}>
      A set-up script that fails ends the start
    </Check>
    <Field label="Name on commits">
      {(tie) => (
        <input {...tie} className="field" name="name" defaultValue={stored.git_user_name ?? ''} maxLength={255} />
      )}
    </Field>
    <Field label="E-mail on commits">
      {(tie) => (
        <input
          {...tie}
          className="field"
          name="email"
          type="email"
          defaultValue={stored.git_user_email ?? ''}
          maxLength={254}
        />
      )}
    </Field>
  </Section>
)
