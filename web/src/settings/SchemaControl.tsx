import { type ReactNode, useState } from 'react'
import { t } from '../i18n/translate.ts'
import { Field, type Tie } from '../ui/Field.tsx'
import { type Member, type Path, type Shape, valueAt } from './schema.ts'

export interface Draft {
  values: unknown
  put: (path: Path, value: unknown) => void
  /** What is wrong at this place. */
  wrongAt: (path: Path) => string | undefined
}

interface ControlProps {
  member: Member
  path: Path
  draft: Draft
}

/** One member of the settings by its name in the API: the control that its schema asks for, and what is wrong with it. */
export function SchemaControl({ member, path, draft }: ControlProps) {
  const { shape } = member
  if (shape.kind === 'members') return <Inside title={member.name} members={shape.members} path={path} draft={draft} />
  if (shape.kind === 'variants') return <Variants {...{ member, path, draft }} variants={shape.variants} />
  return (
    <Named member={member} path={path} draft={draft}>
      {(tie) => (
        <Single
          tie={{ ...tie, name: path.join('.') }}
          shape={shape}
          value={valueAt(draft.values, path)}
          onChange={(value) => draft.put(path, value)}
        />
      )}
    </Named>
  )
}

function Named({ member, path, draft, children }: ControlProps & { children: (tie: Tie) => ReactNode }) {
  const usual = said(member.usual)
  return (
    <Field
      label={member.name}
      hint={usual === '' ? undefined : t('agent.usual', { value: usual })}
      error={draft.wrongAt(path)}
      isCode
    >
      {children}
    </Field>
  )
}

const said = (usual: unknown): string =>
  usual === undefined || usual === null || typeof usual === 'object' ? '' : String(usual)

function Inside({
  title,
  members,
  path,
  draft,
}: {
  title: string
  members: readonly Member[]
  path: Path
  draft: Draft
}) {
  return (
    <fieldset className="grid gap-3 rounded-lg border border-line p-3 sm:col-span-2 sm:grid-cols-2">
      <legend className="px-1 font-mono text-[0.8125rem] font-medium">{title}</legend>
      {members.map((member) => (
        <SchemaControl key={member.name} member={member} path={[...path, member.name]} draft={draft} />
      ))}
    </fieldset>
  )
}

function Variants({
  member,
  path,
  draft,
  variants,
}: ControlProps & { variants: Readonly<Record<string, readonly Member[]>> }) {
  const kind = valueAt(draft.values, [...path, 'kind'])
  const members = typeof kind === 'string' ? (variants[kind] ?? []) : []
  return (
    <div className="grid gap-3 sm:col-span-2">
      <Named member={member} path={path} draft={draft}>
        {(tie) => (
          <select
            {...tie}
            name={path.join('.')}
            className="field chosen"
            value={typeof kind === 'string' ? kind : ''}
            onChange={({ target }) => draft.put(path, target.value === '' ? undefined : { kind: target.value })}
          >
            <option value="">{t('agent.unset')}</option>
            {Object.keys(variants).map((one) => (
              <option key={one}>{one}</option>
            ))}
          </select>
        )}
      </Named>
      {members.length > 0 && <Inside title={String(kind)} members={members} path={path} draft={draft} />}
    </div>
  )
}

interface SingleProps {
  tie: Tie & { name: string }
  shape: Exclude<Shape, { kind: 'members' | 'variants' }>
  value: unknown
  onChange: (value: unknown) => void
}

const text = (value: unknown): string => (value === undefined || value === null ? '' : String(value))

function Single({ tie, shape, value, onChange }: SingleProps) {
  switch (shape.kind) {
    case 'switch':
      return <Choice tie={tie} values={onOff} value={text(value)} onChange={(one) => onChange(one && one === 'true')} />
    case 'choice':
      return <Choice tie={tie} values={shape.values} value={text(value)} onChange={onChange} />
    case 'number':
      return <Amount tie={tie} shape={shape} value={value} onChange={onChange} />
    case 'json':
      return <Json tie={tie} value={value} onChange={onChange} />
    case 'text':
    case 'secret':
      return (
        <input
          {...typed(tie)}
          type={shape.kind === 'secret' ? 'password' : 'text'}
          defaultValue={text(value)}
          onChange={({ target }) => onChange(target.value || undefined)}
        />
      )
    default:
      return <Long tie={tie} isList={shape.kind === 'lines'} value={value} onChange={onChange} />
  }
}

const onOff = ['true', 'false']
const typed = (tie: SingleProps['tie']) => ({ ...tie, className: 'field', autoComplete: 'off' })

interface AmountProps extends Pick<SingleProps, 'tie' | 'value' | 'onChange'> {
  shape: Extract<Shape, { kind: 'number' }>
}

const Amount = ({ tie, shape, value, onChange }: AmountProps) => (
  <input
    {...typed(tie)}
    type="number"
    step={shape.isWhole ? 1 : 'any'}
    min={shape.min}
    max={shape.max}
    defaultValue={text(value)}
    onChange={({ target }) => onChange(target.value === '' ? undefined : target.valueAsNumber)}
  />
)

/** A text of many lines, or a list with one on each. */
const Long = ({
  tie,
  isList,
  value,
  onChange,
}: Pick<SingleProps, 'tie' | 'value' | 'onChange'> & { isList: boolean }) => (
  <textarea
    {...typed(tie)}
    rows={isList ? 2 : 3}
    defaultValue={Array.isArray(value) ? value.join('\n') : text(value)}
    onChange={({ target }) => onChange(isList ? linesIn(target.value) : target.value || undefined)}
  />
)

const linesIn = (value: string): string[] | undefined => {
  const lines = value
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean)
  return lines.length === 0 ? undefined : lines
}

interface ChoiceProps {
  tie: Tie & { name: string }
  values: readonly string[]
  value: string
  onChange: (value: string | undefined) => void
}

/** One of these, or nothing said. */
const Choice = ({ tie, values, value, onChange }: ChoiceProps) => (
  <select
    {...tie}
    className="field chosen"
    value={value}
    onChange={({ target }) => onChange(target.value || undefined)}
  >
    <option value="">{t('agent.unset')}</option>
    {values.map((one) => (
      <option key={one}>{one}</option>
    ))}
  </select>
)

/** What is no JSON is kept as the text it is; the schema says then what it should be. */
function Json({ tie, value, onChange }: Pick<SingleProps, 'tie' | 'value' | 'onChange'>) {
  const [written] = useState(() => (value === undefined || value === null ? '' : JSON.stringify(value, null, 2)))
  const read = (said: string): unknown => {
    if (said.trim() === '') return undefined
    try {
      return JSON.parse(said)
    } catch {
      return said
    }
  }
  return (
    <textarea
      {...tie}
      className="field field-sizing-content max-h-80 min-h-16 font-mono text-[0.8125rem]"
      spellCheck={false}
      placeholder={t('agent.json')}
      defaultValue={written}
      onChange={({ target }) => onChange(read(target.value))}
    />
  )
}
