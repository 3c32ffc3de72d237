import type { AppConversation } from '@parley/contract/conversations'
import { queryOptions, useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
import { client } from '../api.ts'
import type { Key } from '../i18n/message.ts'
import { t } from '../i18n/translate.ts'
import { settings } from '../settings/settings.ts'

/* Tells a person who looks elsewhere that a conversation needs them or is done. */

type Said = Extract<Key, `status.${string}`>
const worthIt: Partial<Record<string, Said>> = {
  waiting_for_confirmation: 'status.waiting_for_confirmation',
  finished: 'status.finished',
  error: 'status.error',
  stuck: 'status.stuck',
}

/** The conversations that were at work when they were last seen and are not any more, each with what to say. */
export function turned(
  before: ReadonlyMap<string, string | null>,
  now: readonly Pick<AppConversation, 'id' | 'title' | 'execution_status'>[],
): { id: string; title: string | null; word: Said }[] {
  return now.flatMap(({ id, title, execution_status }) => {
    const word = worthIt[execution_status ?? '']
    return word !== undefined && before.get(id) === 'running' ? [{ id, title, word }] : []
  })
}

/** Asked for all the time, also while the page is not looked at. */
export const latest = queryOptions({
  queryKey: ['conversations', 'attention'],
  queryFn: () => client.conversations.search({ query: { limit: 20, sort_order: 'UPDATED_AT_DESC' } }),
  refetchInterval: 5000,
  refetchIntervalInBackground: true,
})

export function useAttention(): void {
  const navigate = useNavigate()
  const { data: stored } = useQuery(settings)
  const seen = useRef<ReadonlyMap<string, string | null>>(new Map())
  const { data } = useQuery(latest)
  const rings = stored?.enable_sound_notifications === true
  useEffect(() => {
    if (data === undefined) return
    const news = turned(seen.current, data.items)
    seen.current = new Map(data.items.map(({ id, execution_status }) => [id, execution_status]))
    for (const { id, title, word } of news) {
      const isSeen = !document.hidden && location.pathname === `/conversations/${id}`
      if (isSeen) continue
      tell(title ?? t('ui.untitled'), t(word), () => void navigate({ to: '/conversations/$id', params: { id } }))
      if (rings) ring()
    }
  }, [data, navigate, rings])
}

function tell(title: string, body: string, open: () => void): void {
  if (!('Notification' in window) || Notification.permission !== 'granted') return
  const notice = new Notification(title, { body, icon: '/favicon.svg' })
  notice.addEventListener('click', () => {
    window.focus()
    open()
    notice.close()
  })
}

/** Two short tones. Silent where the browser allows no sound yet. */
function ring(): void {
  const sound = new AudioContext()
  const level = sound.createGain()
  level.gain.value = 0.08
  level.connect(sound.destination)
  for (const [index, pitch] of [660, 880].entries()) {
    const tone = sound.createOscillator()
    tone.frequency.value = pitch
    tone.connect(level)
    tone.start(sound.currentTime + index * 0.16)
    tone.stop(sound.currentTime + index * 0.16 + 0.12)
  }
  setTimeout(() => void sound.close(), 1000)
}
