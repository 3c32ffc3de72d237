import type { SideAnswer } from '@parley/contract/conversation-insight'
import { useSyncExternalStore } from 'react'
import { client } from '../api.ts'

/*
 * Questions beside a conversation, and what the model answered. The service keeps neither, and so they are here as long as the
 * page is open, whichever part of it is looked at.
 */

export interface Asked {
  id: string
  question: string
  answer: SideAnswer | null
  error: unknown
}

interface Aside {
  isOpen: boolean
  /** Grows each time its field shall have the focus. */
  calls: number
  asked: readonly Asked[]
}

const nothing: Aside = { isOpen: false, calls: 0, asked: [] }
const asides = new Map<string, Aside>()
const listeners = new Set<() => void>()

const asideOf = (id: string): Aside => asides.get(id) ?? nothing

function change(id: string, to: Partial<Aside>): void {
  asides.set(id, { ...asideOf(id), ...to })
  for (const changed of listeners) changed()
}

export const useAside = (id: string): Aside =>
  useSyncExternalStore(
    (changed) => {
      listeners.add(changed)
      return () => listeners.delete(changed)
    },
    () => asideOf(id),
  )

/** Shows the place for such questions, with the focus in its field. */
export const openAside = (id: string): void => change(id, { isOpen: true, calls: asideOf(id).calls + 1 })

/** What was asked goes with it: nobody else has it. */
export const closeAside = (id: string): void => change(id, { isOpen: false, asked: [] })

/** The service answers one question of a conversation at a time. */
export const isAsking = ({ asked }: Pick<Aside, 'asked'>): boolean =>
  asked.some(({ answer, error }) => answer === null && error === null)

export async function askAside(id: string, question: string): Promise<void> {
  const one: Asked = { id: crypto.randomUUID(), question, answer: null, error: null }
  change(id, { isOpen: true, asked: [...asideOf(id).asked, one] })
  const ends = (end: Partial<Asked>) =>
    change(id, { asked: asideOf(id).asked.map((other) => (other.id === one.id ? { ...other, ...end } : other)) })
  try {
    const headers = { 'idempotency-key': one.id }
    ends({ answer: await client.conversations.ask({ params: { id }, body: { question }, headers }) })
  } catch (error) {
    ends({ error })
  }
}
