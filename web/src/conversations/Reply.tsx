import type { AppConversation } from '@parley/contract/conversations'
import type { LogEvent } from '@parley/contract/events'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { client } from '../api.ts'
import { t } from '../i18n/translate.ts'
import { Button } from '../ui/Button.tsx'
import { useDraft } from '../ui/draft.ts'
import { ErrorNote } from '../ui/ErrorNote.tsx'
import { Composer } from './Composer.tsx'
import { commandIn, type OwnCommand, replySources } from './reply-sources.ts'
import { askAside, isAsking, openAside, useAside } from './side-questions.ts'
import { canSay, tell } from './verbs.ts'

interface Sending {
  id: string
  text: string
  /** Of the event it became. */
  event: string | null
  error: string | null
}

/** Where one answers. What was sent is shown at once; what could not be sent stays, to be tried again. */
export function Reply({ of: one, events }: { of: AppConversation; events: readonly LogEvent[] }) {
  const [draft, setDraft] = useDraft(one.id)
  const [all, setAll] = useState<Sending[]>([])
  const stored = new Set(events.slice(-200).map(({ id }) => id))
  const shown = all.filter(({ event }) => event === null || !stored.has(event))
  const change = (id: string, to: Partial<Sending>) =>
    setAll((before) => before.map((sending) => (sending.id === id ? { ...sending, ...to } : sending)))

  async function deliver({ id, text }: { id: string; text: string }): Promise<void> {
    const content = [{ type: 'text' as const, text, cache_prompt: false }]
    const headers = { 'idempotency-key': id }
    try {
      const sent = await client.events.post({
        params: { id: one.id },
        body: { role: 'user', content, run: true },
        headers,
      })
      change(id, { event: sent.event_id })
    } catch (error) {
      change(id, { error: error instanceof Error ? error.message : String(error) })
    }
  }
  const send = () => {
    const sending = { id: crypto.randomUUID(), text: draft, event: null, error: null }
    setAll((before) => [...before, sending])
    setDraft('')
    void deliver(sending)
  }
  const aside = useAside(one.id)
  const condense = useMutation({ mutationFn: () => tell(one.id, 'condense') })
  const command = commandIn(draft)
  const acts: Record<OwnCommand, (words: string) => void> = {
    ask: (words) => (words === '' ? openAside(one.id) : void askAside(one.id, words)),
    condense: () => condense.mutate(),
  }
  const act = () => {
    if (command === null) return send()
    setDraft('')
    acts[command.name](command.words)
  }
  return (
    <div data-reply>
      <ul aria-label={t('reply.on-the-way')}>
        {shown.map((sending) => (
          <Unsent
            key={sending.id}
            sending={sending}
            onRetry={() => {
              change(sending.id, { error: null })
              void deliver(sending)
            }}
            onDismiss={() => setAll((before) => before.filter(({ id }) => id !== sending.id))}
          />
        ))}
      </ul>
      {condense.error !== null && <ErrorNote error={condense.error} />}
      {canSay(one) ? (
        <Composer
          label={t('reply.label')}
          placeholder={t('reply.placeholder')}
          text={draft}
          onText={setDraft}
          onSend={act}
          isSending={command?.name === 'ask' && isAsking(aside)}
          sources={replySources(one.id, condense.mutate)}
          autoFocus
        >
          {command?.name === 'ask' && (
            <span className="min-w-0 flex-1 px-2 text-xs text-soft">{t('reply.beside')}</span>
          )}
        </Composer>
      ) : (
        <div className="flex flex-wrap items-center gap-2 rounded-lg bg-panel p-3 text-sm text-soft">
          <p className="min-w-48 flex-1">{t('reply.closed')}</p>
          <Button onClick={() => openAside(one.id)}>{t('aside.open')}</Button>
        </div>
      )}
    </div>
  )
}

function Unsent({ sending, onRetry, onDismiss }: { sending: Sending; onRetry: () => void; onDismiss: () => void }) {
  return (
    <li className="mb-2 flex flex-wrap items-center justify-end gap-2">
      {sending.error !== null && (
        <span role="alert" className="text-sm text-bad">
          {t('reply.not-sent', { reason: sending.error })}
        </span>
      )}
      <span className="max-w-[85%] rounded-2xl rounded-br-sm bg-tint px-4 py-2 wrap-anywhere whitespace-pre-wrap opacity-70">
        {sending.text}
      </span>
      {sending.error === null ? (
        <span className="text-xs text-soft">{t('reply.sending')}</span>
      ) : (
        <>
          <Button onClick={onRetry}>{t('reply.retry')}</Button>
          <Button kind="quiet" onClick={onDismiss}>
            {t('reply.dismiss')}
          </Button>
        </>
      )}
    </li>
  )
}
