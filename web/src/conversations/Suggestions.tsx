import { t } from '../i18n/translate.ts'
import { visible } from '../ui/visible.ts'
import type { Suggestion } from './suggest.ts'

interface SuggestionsProps {
  id: string
  items: readonly Suggestion[]
  marked: number
  onChoose: (one: Suggestion) => void
}

/** The list above the composer. The focus stays in the text; the list follows its arrow keys. */
export function Suggestions({ id, items, marked, onChoose }: SuggestionsProps) {
  return (
    <ul
      id={id}
      role="listbox"
      aria-label={t('composer.suggestions')}
      className="card absolute bottom-full left-0 z-10 mb-1 max-h-72 w-full max-w-md overflow-y-auto p-1 shadow-lg"
    >
      {items.map((one, index) => (
        <li
          key={one.value}
          id={`${id}-${index}`}
          role="option"
          aria-selected={index === marked}
          // Before the text loses the focus.
          onMouseDown={(event) => {
            event.preventDefault()
            onChoose(one)
          }}
          className="flex cursor-pointer items-baseline gap-3 rounded-lg px-3 py-1.5 aria-selected:bg-tint"
        >
          <span className="truncate font-mono text-sm">{visible(one.value)}</span>
          {one.note !== undefined && <span className="ml-auto truncate text-sm text-soft">{visible(one.note)}</span>}
        </li>
      ))}
    </ul>
  )
}
