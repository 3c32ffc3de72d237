import { type ClipboardEvent, type KeyboardEvent, type ReactNode, useEffect, useId, useRef, useState } from 'react'
import { flushSync } from 'react-dom'
import { t } from '../i18n/translate.ts'
import { Button, type ButtonProps } from '../ui/Button.tsx'
import { Icon } from '../ui/Icon.tsx'
import { Attach, Attached, imagesIn, type Images } from './Attachments.tsx'
import { completed, type Sources, type Suggestion, useSuggestions } from './suggest.ts'
import { Suggestions } from './Suggestions.tsx'

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
  /** Pictures that go with the text; without it none can be attached. */
  images?: Images
  /** What `/` and `@` offer. */
  sources?: Sources
}

const nothing: Sources = {}

/** Where a person writes to the agent. Enter sends, Shift and Enter begin a new line. */
export function Composer(props: ComposerProps) {
  const { label, placeholder, text, onText, onSend, isSending, children, autoFocus, isTall, images } = props
  const id = useId()
  const area = useRef<HTMLTextAreaElement>(null)
  const [caret, setCaret] = useState(0)
  const offered = useSuggestions(props.sources ?? nothing, text, caret)
  const isOpen = offered.items.length > 0
  const canSend = (text.trim() !== '' || (images?.list.length ?? 0) > 0) && !isSending
  useEffect(() => {
    // On a phone the focus would open the keyboard over the page.
    if (autoFocus === true && matchMedia('(pointer: fine)').matches) area.current?.focus()
  }, [autoFocus])

  const choose = ({ value, act }: Suggestion) => {
    if (offered.token === null) return
    const next = completed(text, offered.token, act === undefined ? value : '')
    // At once: set a frame later, the caret would jump back behind what was typed since.
    flushSync(() => {
      onText(next.text)
      setCaret(next.caret)
    })
    area.current?.setSelectionRange(next.caret, next.caret)
    area.current?.focus()
    act?.()
  }
  const inList: Record<string, () => void> = {
    ArrowDown: () => offered.mark(offered.marked + 1),
    ArrowUp: () => offered.mark(offered.marked - 1),
    Escape: offered.close,
    Enter: () => choose(offered.items[offered.marked] ?? { value: '' }),
    Tab: () => choose(offered.items[offered.marked] ?? { value: '' }),
  }
  const keys = (event: KeyboardEvent) => {
    if (event.shiftKey || event.nativeEvent.isComposing) return
    const act = isOpen ? inList[event.key] : event.key === 'Enter' ? () => canSend && onSend() : undefined
    if (act === undefined) return
    event.preventDefault()
    act()
  }
  return (
    <div className="relative rounded-2xl border border-edge bg-raised shadow-sm transition-shadow focus-within:border-accent focus-within:shadow-md">
      {isOpen && <Suggestions id={`${id}-list`} items={offered.items} marked={offered.marked} onChoose={choose} />}
      <label htmlFor={id} className="sr-only">
        {label}
      </label>
      <textarea
        id={id}
        ref={area}
        value={text}
        onChange={({ target }) => {
          onText(target.value)
          setCaret(target.selectionStart)
        }}
        onSelect={({ currentTarget }) => setCaret(currentTarget.selectionStart)}
        onKeyDown={keys}
        onPaste={(event) => images !== undefined && pasted(event, images)}
        placeholder={placeholder}
        aria-autocomplete="list"
        aria-controls={isOpen ? `${id}-list` : undefined}
        aria-activedescendant={isOpen ? `${id}-list-${offered.marked}` : undefined}
        className={`${isTall === true ? 'min-h-24' : 'min-h-12'} field-sizing-content block max-h-[40vh] w-full resize-none bg-transparent px-4 pt-3.5 pb-1 outline-none placeholder:text-soft`}
      />
      {images !== undefined && <Attached images={images} />}
      <div className="flex flex-wrap items-center gap-x-1 gap-y-1 p-2">
        {images !== undefined && <Attach onAdd={images.add} />}
        {children}
        <Send disabled={!canSend} busy={isSending} onClick={onSend} />
      </div>
    </div>
  )
}

const Send = (props: Pick<ButtonProps, 'disabled' | 'busy' | 'onClick'>) => (
  <Button
    {...props}
    kind="primary"
    aria-label={t('composer.send')}
    title={t('composer.send')}
    className="ml-auto size-9 rounded-full! px-0!"
  >
    <Icon name="send" />
  </Button>
)

/** Pictures in the clipboard are attached; text goes where it always goes. */
function pasted(event: ClipboardEvent, images: Images): void {
  if (event.clipboardData.files.length === 0) return
  event.preventDefault()
  void imagesIn(event.clipboardData.files).then(images.add)
}
