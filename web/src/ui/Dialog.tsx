import { type ReactNode, useEffect, useId, useRef } from 'react'

interface DialogProps {
  title: string
  onClose: () => void
  children: ReactNode
}

/** A modal window of the browser itself: it keeps the focus inside, closes with Escape and gives the focus back. */
export function Dialog({ title, onClose, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null)
  const id = useId()
  useEffect(() => {
    const element = dialog.current
    element?.showModal()
    return () => element?.close()
  }, [])
  return (
    <dialog
      ref={dialog}
      aria-labelledby={id}
      onClose={onClose}
      onCancel={onClose}
      className="card m-auto w-[min(34rem,calc(100vw-2rem))] bg-raised p-5 text-ink"
    >
      <h2 id={id} className="mb-3 text-lg font-semibold">
        {title}
      </h2>
      {children}
    </dialog>
  )
}
