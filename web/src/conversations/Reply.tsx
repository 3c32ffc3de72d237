import type { AppConversation } from '@parley/contract/conversations'
import type { LogEvent } from '@parley/contract/events'
import { conversationAllows } from '@parley/contract/execution'
import { sandboxAllows } from '@parley/contract/sandboxes'
import { useState } from 'react'
import { client } from '../api.ts'
import { t } from '../i18n/translate.ts'
import { Button } from '../ui/Button.tsx'
import { useDraft } from '../ui/draft.ts'
import { Composer } from './Composer.tsx'
import { replySources } from './reply-sources.ts'

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
  const isOpen =
    sandboxAllows(one.sandbox_status, 'message') && conversationAllows(one.execution_status ?? 'idle', 'message')
  return (
    <>
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
      {isOpen ? (
        <Composer
          label={t('reply.label')}
          placeholder={t('reply.placeholder')}
          text={draft}
          onText={setDraft}
          onSend={send}
          isSending={false}
          sources={replySources(one.id)}
          autoFocus
        />
      ) : (
        <p className="rounded-lg bg-panel p-3 text-sm text-soft">{t('reply.closed')}</p>
      )}
    </>
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
