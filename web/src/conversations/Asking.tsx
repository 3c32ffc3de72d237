import { pretty } from '../events/json.ts'
import type { Tool } from '../events/timeline.ts'
import { titleOf } from '../events/title.ts'
import { Asked } from '../events/ToolCall.tsx'
import { t } from '../i18n/translate.ts'
import { Button } from '../ui/Button.tsx'
import { Field } from '../ui/Field.tsx'
import { visible } from '../ui/visible.ts'
import { argumentsOf, commandOf } from './answer.ts'

interface AskingProps {
  call: Tool
  isChosen: boolean
  /** Null where there is nothing to choose between. */
  onChoose: ((isChosen: boolean) => void) | null
  /** What stands in the field; null while the call is as the agent asked for it. */
  edit: string | null
  onEdit: (text: string | null) => void
}

/** One action that waits: what it is, how risky, and a field to change it. */
export function Asking({ call, isChosen, onChoose, edit, onEdit }: AskingProps) {
  const { action } = call
  const { verb, what } = titleOf(action)
  const title = visible(`${verb} ${what.split('\n')[0] ?? ''}`)
  const first = commandOf(call) ?? pretty(action.tool_call.arguments)
  return (
    <div className="overflow-hidden rounded-lg border border-line bg-page">
      <div className="flex flex-wrap items-center gap-x-2 gap-y-1 px-3 py-1">
        {onChoose !== null && (
          <input
            type="checkbox"
            aria-label={t('confirm.choose', { what: title })}
            checked={isChosen}
            onChange={(event) => onChoose(event.target.checked)}
          />
        )}
        <span className="min-w-0 flex-1 truncate text-sm">
          {commandOf(call) === null ? title : action.tool_name}
          {edit !== null && ` · ${t('confirm.edited')}`}
        </span>
        <span
          className={`text-sm ${action.security_risk === 'HIGH' ? 'text-bad' : 'text-warn'}`}
          title={action.risk?.reason ?? undefined}
        >
          {t(`risk.${action.security_risk}`)}
        </span>
        <Button kind="quiet" onClick={() => onEdit(edit === null ? first : null)}>
          {t(edit === null ? 'confirm.edit' : 'confirm.undo')}
        </Button>
      </div>
      {action.risk?.reason && <p className="px-3 pb-1 text-sm text-soft">{visible(action.risk.reason)}</p>}
      <div className="border-t border-line">
        {edit === null ? <Asked action={action} /> : <EditField call={call} text={edit} onText={onEdit} />}
      </div>
    </div>
  )
}

function EditField({ call, text, onText }: { call: Tool; text: string; onText: (text: string) => void }) {
  const isBad = argumentsOf(call, text) === null
  return (
    <div className="p-3">
      <Field
        label={t(commandOf(call) === null ? 'confirm.arguments' : 'confirm.command')}
        error={isBad ? t('confirm.bad-json') : undefined}
      >
        {(tie) => (
          <textarea
            {...tie}
            className="field field-sizing-content max-h-60 font-mono text-[0.8125rem]"
            rows={2}
            spellCheck={false}
            value={text}
            onChange={(event) => onText(event.target.value)}
          />
        )}
      </Field>
    </div>
  )
}
