import type { Settings } from '@parley/contract/settings'
import type { ReactNode } from 'react'
import { t } from '../i18n/translate.ts'
import { Field, type Tie } from '../ui/Field.tsx'
import { type Choice, type Control, controls, type FormField } from './fields.ts'

/** One field of the settings: its words and its control. */
export function FieldControl({ field, stored }: { field: FormField; stored: Settings }) {
  const control: Control = controls[field]
  const hint = t(`field.${field}.hint`)
  if (control.kind === 'switch') return <Switch field={field} hint={hint} isOn={stored[field] === true} />
  const isStored = control.kind === 'secret' && stored[control.set]
  return (
    <Field label={t(`field.${field}`)} hint={isStored ? `${hint} ${t('settings.secret.stored')}` : hint}>
      {(tie) => inputFor(control, { ...tie, name: field, className: 'field' }, textOf(stored[field]), isStored)}
    </Field>
  )
}

type Usual = Tie & { name: string; className: string }

function inputFor(
  control: Exclude<Control, { kind: 'switch' }>,
  usual: Usual,
  text: string,
  isStored: boolean,
): ReactNode {
  switch (control.kind) {
    case 'number': {
      const { min, max, step } = control
      return <input {...usual} {...{ min, max, step }} type="number" inputMode="decimal" defaultValue={text} />
    }
    case 'choice':
      return <Choices {...usual} choices={control.choices} text={text} />
    case 'secret':
      return (
        <input
          {...usual}
          type="password"
          autoComplete="off"
          maxLength={4096}
          placeholder={isStored ? '••••••••' : ''}
        />
      )
    case 'lines':
      return <textarea {...usual} rows={3} defaultValue={text} />
    default:
      return <input {...usual} type={control.kind} maxLength={512} defaultValue={text} autoComplete="off" />
  }
}

function Choices({ choices, text, ...usual }: Usual & { choices: readonly Choice[]; text: string }) {
  return (
    <select {...usual} className="field chosen" defaultValue={text}>
      {choices.map(({ value, label }) => (
        <option key={value} value={value}>
          {t(label)}
        </option>
      ))}
    </select>
  )
}

function Switch({ field, hint, isOn }: { field: FormField; hint: string; isOn: boolean }) {
  const note = `${field}-hint`
  return (
    <div>
      <label className="flex min-h-9 items-center gap-2.5">
        <input className="switch" type="checkbox" name={field} defaultChecked={isOn} aria-describedby={note} />
        {t(`field.${field}`)}
      </label>
      <p id={note} className="ml-11.5 text-sm text-soft">
        {hint}
      </p>
    </div>
  )
}

/** As it stands in the control: lists a line each. */
function textOf(value: unknown): string {
  if (value === null || value === undefined) return ''
  if (Array.isArray(value)) return value.join('\n')
  return String(value)
}
