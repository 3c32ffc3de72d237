import { type ReactNode, useId } from 'react'

/** What ties an input to its label and texts. */
export interface Tie {
  id: string
  'aria-describedby': string | undefined
  'aria-invalid': boolean
}

interface FieldProps {
  label: string
  hint?: ReactNode
  error?: string | undefined
  /** Draws the input. */
  children: (tie: Tie) => ReactNode
}

export function Field({ label, hint, error, children }: FieldProps) {
  const id = useId()
  const note = `${id}-note`
  const hasNote = hint !== undefined || error !== undefined
  return (
    <div>
      <label htmlFor={id} className="mb-1 block text-sm font-medium">
        {label}
      </label>
      {children({ id, 'aria-describedby': hasNote ? note : undefined, 'aria-invalid': error !== undefined })}
      {hasNote && (
        <p id={note} className={`mt-1 text-sm ${error === undefined ? 'text-soft' : 'text-bad'}`}>
          {error ?? hint}
        </p>
      )}
    </div>
  )
}
