import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { LogEvent } from '@parley/contract/events'
import { chatMessages, newestChatMessages } from './chat-history.ts'

const said = (n: number): LogEvent =>
  ({
    kind: 'MessageEvent',
    source: n % 2 === 0 ? 'user' : 'agent',
    llm_message: { role: 'user', content: [{ type: 'text', text: `word ${n}`, cache_prompt: false }] },
  }) as unknown as LogEvent
const silent = { kind: 'ConversationStateUpdateEvent', key: 'critic_result', value: null } as unknown as LogEvent

test('the newest messages of a history are its last ones in their order, and no more of it is read', () => {
  const events = Array.from({ length: 5_000 }, (_, n) => [said(n), silent]).flat()
  for (const most of [0, 1, 7, 400, 20_000]) {
    let read = 0
    const newest = newestChatMessages(events, most, (text) => ((read += 1), text))
    const all = events.flatMap((event) => chatMessages(event, (text) => text))
    assert.deepEqual(newest, all.slice(all.length - Math.min(most, all.length)))
    assert.equal(read, Math.min(most, all.length))
  }
})
