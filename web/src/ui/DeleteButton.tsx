import { useState } from 'react'
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
      <Button kind="danger" aria-label={`Delete ${what}`} onClick={() => setAsks(true)}>
        Delete
      </Button>
      {asks && (
        <Dialog title={`Delete ${what}?`} onClose={() => setAsks(false)}>
          <p className="mb-3">{warning}</p>
          <ErrorNote error={state.error} />
          <div className="mt-4 flex justify-end gap-2">
            <Button onClick={() => setAsks(false)}>Keep</Button>
            <Button kind="danger" busy={state.busy} onClick={act}>
              Delete
            </Button>
          </div>
        </Dialog>
      )}
    </>
  )
}
