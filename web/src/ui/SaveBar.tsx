import { t } from '../i18n/translate.ts'
import { Button } from './Button.tsx'
import { ErrorNote } from './ErrorNote.tsx'

interface SaveBarProps {
  saved: boolean
  busy: boolean
  error: unknown
  /** What stands on the button. */
  label?: string
}

/** The end of a form: what went wrong, the button, and that it is saved. */
export function SaveBar({ saved, busy, error, label = t('ui.save') }: SaveBarProps) {
  return (
    <div className="grid gap-3">
      <ErrorNote error={error} />
      <div className="flex items-center gap-3">
        <Button type="submit" kind="primary" busy={busy}>
          {label}
        </Button>
        <span role="status" className="text-sm text-good">
          {saved ? t('ui.saved') : ''}
        </span>
      </div>
    </div>
  )
}
