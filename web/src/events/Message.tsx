import type { Content } from '@parley/contract/events'
import { lazy, type ReactNode, Suspense } from 'react'
import { t } from '../i18n/translate.ts'
import { visible } from '../ui/visible.ts'
import { imagesOf, textOf } from './timeline.ts'

const Markdown = lazy(() => import('./Markdown.tsx').then(({ Markdown: component }) => ({ default: component })))

const asText = (text: string) => <p className="wrap-anywhere whitespace-pre-wrap">{visible(text)}</p>

interface MessageProps {
  from: 'user' | 'agent'
  content: readonly Content[]
  isQueued: boolean
  /** What one can do with it; shown when it is pointed at or reached by key. */
  children: ReactNode
}

/** What a person wrote stands as it was written; what the agent wrote is markdown. */
export function Message({ from, content, isQueued, children }: MessageProps) {
  const text = textOf(content)
  const isMine = from === 'user'
  const body = (
    <div className={isMine ? 'max-w-[85%] rounded-2xl rounded-br-sm bg-tint px-4 py-2' : 'min-w-0'}>
      {isMine ? asText(text) : <AgentText text={text} />}
      {imagesOf(content).map((address) => (
        <Picture key={address} address={address} />
      ))}
    </div>
  )
  return (
    <article aria-label={t(isMine ? 'chat.you' : 'chat.agent')} className="group relative">
      <div className={isMine ? 'flex flex-row-reverse items-center gap-x-2 max-sm:flex-wrap' : ''}>
        {body}
        {children}
      </div>
      {isQueued && <p className="mt-1 text-right text-xs text-soft">{t('chat.queued')}</p>}
    </article>
  )
}

export function AgentText({ text, isWriting = false }: { text: string; isWriting?: boolean }) {
  return (
    <Suspense fallback={asText(text)}>
      <Markdown text={text} isWriting={isWriting} />
    </Suspense>
  )
}

/** Pictures that travel in the message itself are shown; others are named, not loaded. */
function Picture({ address }: { address: string }) {
  if (!/^data:image\/(png|jpeg|gif|webp);base64,/.test(address))
    return (
      <p className="text-sm wrap-anywhere text-soft">
        {t('chat.image-at', { address: visible(address.slice(0, 200)) })}
      </p>
    )
  return <img src={address} alt={t('chat.attached')} className="mt-2 max-h-80 max-w-full rounded-lg" />
}
