import { t } from '../i18n/translate.ts'
import { Button } from './Button.tsx'
import { CopyButton } from './CopyButton.tsx'

/** A secret that was just made: to be copied now, for it is not kept. */
export function ShownOnce({ text, about, onClose }: { text: string; about: string; onClose: () => void }) {
  return (
    <div className="grid gap-3">
      <p>{about}</p>
      <div className="flex items-center gap-2 rounded-lg bg-panel p-2">
        <code data-testid="shown-once" className="min-w-0 flex-1 text-sm wrap-anywhere">
          {text}
        </code>
        <CopyButton text={text} />
      </div>
      <div className="flex justify-end">
        <Button kind="primary" onClick={onClose}>
          {t('ui.done')}
        </Button>
      </div>
    </div>
  )
}
