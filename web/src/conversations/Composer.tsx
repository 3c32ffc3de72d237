import { type KeyboardEvent, type ReactNode, useEffect, useId, useRef } from 'react'
import { Button } from '../ui/Button.tsx'

interface ComposerProps {
  label: string
  placeholder: string
  text: string
  onText: (text: string) => void
  onSend: () => void
  isSending: boolean
  /** What stands below the text on the left. */
  children?: ReactNode
  autoFocus?: boolean
  isTall?: boolean
}

/** Where a person writes to the agent. Enter sends, Shift and Enter begin a new line. */
export function Composer({
  label,
  placeholder,
  text,
  onText,
  onSend,
  isSending,
  children,
  autoFocus,
  isTall,
}: ComposerProps) {
  const id = useId()
  const area = useRef<HTMLTextAreaElement>(null)
  const canSend = text.trim() !== '' && !isSending
  useEffect(() => {
    // On a phone the focus would open the keyboard over the page.
    if (autoFocus === true && matchMedia('(pointer: fine)').matches) area.current?.focus()
  }, [autoFocus])
  const keys = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return
    event.preventDefault()
    if (canSend) onSend()
  }
  return (
    <div className="rounded-xl border border-edge bg-raised focus-within:border-accent">
      <label htmlFor={id} className="sr-only">
        {label}
      </label>
      <textarea
        id={id}
        ref={area}
        value={text}
        onChange={(event) => onText(event.target.value)}
        onKeyDown={keys}
        placeholder={placeholder}
        className={`${isTall === true ? 'min-h-24' : 'min-h-12'} field-sizing-content block max-h-[40vh] w-full resize-none bg-transparent px-3 pt-3 pb-1 outline-none placeholder:text-soft`}
      />
      <div className="flex flex-wrap items-center gap-2 p-2">
        {children}
        <Button kind="primary" className="ml-auto" disabled={!canSend} busy={isSending} onClick={onSend}>
          Send
        </Button>
      </div>
    </div>
  )
}
