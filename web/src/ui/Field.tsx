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
  /** The label is a name of the API. */
  isCode?: boolean
  /** Draws the input. */
  children: (tie: Tie) => ReactNode
}

export function Field({ label, hint, error, isCode = false, children }: FieldProps) {
  const id = useId()
  const note = `${id}-note`
  const hasNote = hint !== undefined || error !== undefined
  return (
    <div>
      <label htmlFor={id} className={`mb-1 block font-medium ${isCode ? 'font-mono text-[0.8125rem]' : 'text-sm'}`}>
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
