import type { Content } from '@parley/contract/events'
import { lazy, Suspense } from 'react'
import { visible } from '../ui/visible.ts'
import { imagesOf, textOf } from './timeline.ts'

const Markdown = lazy(() => import('./Markdown.tsx').then(({ Markdown: component }) => ({ default: component })))

const asText = (text: string) => <p className="wrap-anywhere whitespace-pre-wrap">{visible(text)}</p>

/** What a person wrote stands as it was written; what the agent wrote is markdown. */
export function Message({ from, content }: { from: 'user' | 'agent'; content: readonly Content[] }) {
  const text = textOf(content)
  return (
    <article aria-label={from === 'user' ? 'You' : 'Agent'} className={from === 'user' ? 'flex justify-end' : ''}>
      <div className={from === 'user' ? 'max-w-[85%] rounded-2xl rounded-br-sm bg-tint px-4 py-2' : 'min-w-0'}>
        {from === 'user' ? asText(text) : <AgentText text={text} />}
        {imagesOf(content).map((address) => (
          <Picture key={address} address={address} />
        ))}
      </div>
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
    return <p className="text-sm wrap-anywhere text-soft">[Image at {visible(address.slice(0, 200))}]</p>
  return <img src={address} alt="Attached" className="mt-2 max-h-80 max-w-full rounded-lg" />
}
