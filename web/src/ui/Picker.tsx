import { useQuery } from '@tanstack/react-query'
import { Command } from 'cmdk'
import { useDeferredValue, useState } from 'react'
import { t } from '../i18n/translate.ts'
import { Button } from './Button.tsx'
import { Dialog } from './Dialog.tsx'
import { ErrorNote } from './ErrorNote.tsx'
import { Icon, type IconName } from './Icon.tsx'

export interface Choice {
  value: string
  label: string
  note?: string
}

interface PickerProps {
  /** What is picked: `Repository`. */
  label: string
  value: string | null
  /** Shown while nothing is picked. */
  none: string
  searchKey: readonly unknown[]
  search: (words: string) => Promise<Choice[]>
  onPick: (choice: Choice | null) => void
  icon?: IconName
  /** As part of something else: without a frame of its own. */
  isQuiet?: boolean
  /** Offers what was typed as a choice too. */
  takesText?: boolean
}

/** A button that shows what is picked and opens a searchable list. */
export function Picker(props: PickerProps) {
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <Button
        kind={props.isQuiet === true ? 'quiet' : 'plain'}
        onClick={() => setOpen(true)}
        aria-haspopup="dialog"
        className={`max-w-full ${props.isQuiet === true ? 'px-2!' : ''}`}
        title={props.label}
      >
        {props.icon !== undefined && <Icon name={props.icon} />}
        <span className="sr-only">{props.label}: </span>
        <span className="truncate">{props.value ?? props.none}</span>
        <Icon name="down" className="size-3 text-soft" />
      </Button>
      {isOpen && <Choices {...props} onClose={() => setOpen(false)} />}
    </>
  )
}

const item =
  'flex min-h-10 cursor-pointer items-center justify-between gap-3 rounded-lg px-3 py-1.5 data-[selected=true]:bg-tint'

function Choices(props: PickerProps & { onClose: () => void }) {
  const { label, value, none, searchKey, search, onPick, takesText, onClose } = props
  const [words, setWords] = useState('')
  const asked = useDeferredValue(words.trim())
  const found = useQuery({
    queryKey: [...searchKey, asked],
    queryFn: () => search(asked),
    placeholderData: (last) => last,
  })
  const pick = (choice: Choice | null) => {
    onPick(choice)
    onClose()
  }
  return (
    <Dialog title={label} onClose={onClose}>
      <Command shouldFilter={false} label={label}>
        <Command.Input
          autoFocus
          value={words}
          onValueChange={setWords}
          placeholder={t('ui.search')}
          className="field mb-2"
        />
        <ErrorNote error={found.error} />
        <Command.List className="h-64 overflow-y-auto">
          {!found.isLoading && found.error === null && (
            <Command.Empty className="p-3 text-soft">{t('ui.nothing-found')}</Command.Empty>
          )}
          {value !== null && (
            <Command.Item value="(none)" className={item} onSelect={() => pick(null)}>
              {none}
            </Command.Item>
          )}
          {found.data?.map((choice) => (
            <Command.Item key={choice.value} value={choice.value} className={item} onSelect={() => pick(choice)}>
              <span className="truncate">{choice.label}</span>
              {choice.note !== undefined && <span className="text-sm text-soft">{choice.note}</span>}
            </Command.Item>
          ))}
          {takesText === true && asked !== '' && !found.data?.some((choice) => choice.value === asked) && (
            <Command.Item value={`use ${asked}`} className={item} onSelect={() => pick({ value: asked, label: asked })}>
              {t('ui.use', { text: asked })}
            </Command.Item>
          )}
        </Command.List>
      </Command>
      <div className="mt-3 flex justify-end">
        <Button onClick={onClose}>{t('ui.close')}</Button>
      </div>
    </Dialog>
  )
}
