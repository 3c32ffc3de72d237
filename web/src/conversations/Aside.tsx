import { type KeyboardEvent, useEffect, useId, useRef, useState } from 'react'
import { Markdown } from '../events/Markdown.tsx'
import { dollars } from '../i18n/format.ts'
import { t } from '../i18n/translate.ts'
import { Button } from '../ui/Button.tsx'
import { CopyButton } from '../ui/CopyButton.tsx'
import { ErrorNote } from '../ui/ErrorNote.tsx'
import { Icon } from '../ui/Icon.tsx'
import { visible } from '../ui/visible.ts'
import { type Asked, askAside, closeAside, isAsking, useAside } from './side-questions.ts'

/** Questions that the agent does not hear of, with their answers: apart from the log, which does not have them. */
export function Aside({ of: id }: { of: string }) {
  const aside = useAside(id)
  const title = useId()
  const end = useRef<HTMLDivElement>(null)
  const last = aside.asked.at(-1)
  useEffect(() => {
    if (last !== undefined) end.current?.lastElementChild?.scrollIntoView({ block: 'nearest' })
  }, [last])
  if (!aside.isOpen) return null
  const close = () => {
    closeAside(id)
    // Where one goes on writing; without it the focus would be nowhere.
    document.querySelector<HTMLTextAreaElement>('[data-reply] textarea')?.focus()
  }
  const keys = (event: KeyboardEvent) => event.key === 'Escape' && !event.nativeEvent.isComposing && close()
  return (
    <section
      aria-labelledby={title}
      onKeyDown={keys}
      className="mb-2 flex max-h-[45vh] flex-col overflow-hidden rounded-2xl border border-dashed border-edge bg-raised"
    >
      <div className="flex items-center gap-2 py-1 pr-1.5 pl-4">
        <h2 id={title} className="text-sm font-semibold">
          {t('aside.title')}
        </h2>
        <p className="min-w-0 flex-1 truncate text-xs text-soft max-sm:hidden">{t('aside.about')}</p>
        <Button
          kind="quiet"
          aria-label={t('aside.close')}
          title={t('aside.close')}
          className="ml-auto px-2!"
          onClick={close}
        >
          <Icon name="cross" />
        </Button>
      </div>
      <div ref={end} role="log" aria-label={t('aside.answers')} tabIndex={0} className="min-h-0 overflow-y-auto px-4">
        {aside.asked.map((one) => (
          <Exchange key={one.id} of={one} />
        ))}
      </div>
      <AskField id={id} calls={aside.calls} isBusy={isAsking(aside)} isFirst={last === undefined} />
    </section>
  )
}

function Exchange({ of: { question, answer, error } }: { of: Asked }) {
  return (
    <article className="border-t border-line py-2.5">
      <p className="mb-1 font-semibold wrap-anywhere whitespace-pre-wrap">
        <span className="sr-only">{t('chat.you')}: </span>
        {visible(question)}
      </p>
      {answer === null && error === null && <p className="text-sm text-soft">{t('aside.asking')}</p>}
      <ErrorNote error={error} />
      {answer !== null && (
        <>
          <Markdown text={answer.answer} />
          <p className="mt-1 flex flex-wrap items-center gap-x-1 text-xs text-soft">
            <span>{visible([answer.model, costOf(answer.cost)].join(' · '))}</span>
            <CopyButton text={answer.answer} look="rounded px-1.5 py-1 hover:bg-panel hover:text-ink" />
          </p>
        </>
      )}
    </article>
  )
}

const costOf = (cost: number | null): string => (cost === null ? t('aside.no-price') : dollars(cost))

const longest = 10_000

interface AskFieldProps {
  id: string
  calls: number
  isBusy: boolean
  isFirst: boolean
}

function AskField({ id, calls, isBusy, isFirst }: AskFieldProps) {
  const [text, setText] = useState('')
  const field = useRef<HTMLInputElement>(null)
  useEffect(() => {
    if (calls > 0) field.current?.focus()
  }, [calls])
  const ask = () => {
    if (text.trim() === '' || isBusy) return
    setText('')
    void askAside(id, text.trim())
  }
  return (
    <form
      className="flex items-center gap-2 border-t border-line p-2"
      onSubmit={(event) => {
        event.preventDefault()
        ask()
      }}
    >
      <input
        ref={field}
        className="field"
        aria-label={t('aside.question')}
        placeholder={isFirst ? t('aside.placeholder') : undefined}
        maxLength={longest}
        value={text}
        onChange={({ target }) => setText(target.value)}
      />
      <Button type="submit" busy={isBusy} disabled={text.trim() === ''}>
        {t('aside.ask')}
      </Button>
    </form>
  )
}
