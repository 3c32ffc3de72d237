import { useState } from 'react'
import { t } from '../i18n/translate.ts'
import { Button } from './Button.tsx'
import { Dialog } from './Dialog.tsx'
import { ErrorNote } from './ErrorNote.tsx'

interface DeleteButtonProps {
  /** What is deleted, as the question names it: `the key Build server`. */
  what: string
  /** What goes with it. */
  warning: string
  onDelete: () => Promise<unknown>
}

/** Asks first. The dialog stays open with the cause when the deletion fails. */
export function DeleteButton({ what, warning, onDelete }: DeleteButtonProps) {
  const [asks, setAsks] = useState(false)
  const [state, setState] = useState<{ busy: boolean; error: unknown }>({ busy: false, error: null })
  const act = () => {
    setState({ busy: true, error: null })
    onDelete().then(
      () => {
        setState({ busy: false, error: null })
        setAsks(false)
      },
      (error: unknown) => setState({ busy: false, error }),
    )
  }
  return (
    <>
      <Button kind="danger" aria-label={t('ui.delete.what', { what })} onClick={() => setAsks(true)}>
        {t('ui.delete')}
      </Button>
      {asks && (
        <Dialog title={t('ui.delete.ask', { what })} onClose={() => setAsks(false)}>
          <p className="mb-3">{warning}</p>
          <ErrorNote error={state.error} />
          <div className="mt-4 flex justify-end gap-2">
            <Button onClick={() => setAsks(false)}>{t('ui.keep')}</Button>
            <Button kind="danger" busy={state.busy} onClick={act}>
              {t('ui.delete')}
            </Button>
          </div>
        </Dialog>
      )}
    </>
  )
}
