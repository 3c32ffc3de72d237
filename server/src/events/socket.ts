import type { eventSocket } from '@parley/contract/event-calls'
import { FollowUpMessage } from '@parley/contract/message'
import { Problem } from '@parley/contract/problems'
import type { Call } from '@parley/wire/serve'
import type { Conversations } from '../conversations/service.ts'
import type { Events } from './service.ts'

/*
 * One viewer of one conversation over a WebSocket: events out, messages in. What is wrong with a message is said in a frame
 * of the kind `ServerErrorEvent`, and the line stays open.
 */

const mostViewers = 50

export type EventSocket = ReturnType<typeof eventSockets>

type Attended = Call<(typeof eventSocket)['params'], (typeof eventSocket)['query'], (typeof eventSocket)['body']>

export function eventSockets({ events, conversations }: { events: Events; conversations: Conversations }) {
  const viewers = new Map<string, number>()

  function enter(id: string): () => void {
    const there = viewers.get(id) ?? 0
    if (there >= mostViewers) throw new Problem('capacity', `${mostViewers} others watch this conversation.`)
    viewers.set(id, there + 1)
    return () => {
      const left = (viewers.get(id) ?? 1) - 1
      if (left === 0) viewers.delete(id)
      else viewers.set(id, left)
    }
  }

  async function tell({ who, params, query, socket }: Attended): Promise<void> {
    const after = await events.beginning(who.owner, params.id, query)
    for await (const { data } of await events.follow(who.owner, params.id, after, socket.signal))
      if (!socket.send(JSON.stringify(data))) return
  }

  async function take({ who, params }: Attended, text: string): Promise<void> {
    const said = read(text)
    // Who was known by a header may still introduce themselves.
    if (said.type === 'auth') return
    const message = FollowUpMessage.safeParse(said)
    if (!message.success) throw new Problem('validation_error', message.error.issues[0]?.message)
    if (!who.scopes.includes('events:write'))
      throw new Problem('insufficient_scope', 'The API key lacks the scope events:write.')
    await conversations.message(who.owner, params.id, message.data)
  }

  async function listen(call: Attended): Promise<void> {
    for await (const text of call.socket.messages) {
      try {
        await take(call, text)
      } catch (error) {
        if (!(error instanceof Problem)) throw error
        const { code, detail, status } = error
        call.socket.send(JSON.stringify({ kind: 'ServerErrorEvent', source: 'environment', code, detail, status }))
      }
    }
  }

  return {
    /** Until the client goes, the conversation does, or something of ours fails. */
    async attend(call: Attended): Promise<void> {
      await conversations.own(call.who.owner, call.params.id)
      const leave = enter(call.params.id)
      try {
        await Promise.race([tell(call), listen(call)])
      } finally {
        leave()
      }
    },
  }
}

function read(text: string): Record<string, unknown> {
  try {
    const said: unknown = JSON.parse(text)
    if (typeof said === 'object' && said !== null) return said as Record<string, unknown>
  } catch {
    // The same answer as for any other text that is no message.
  }
  throw new Problem('malformed_request', 'A frame must be a JSON object.')
}
