import { systemClock } from '@parley/store/clock'
import type { LlmConfig } from './config.ts'
import { ModelError, type Message, type Model, type ModelPart, type ModelRequest } from './model.ts'
import { openModel, type ModelDeps } from './models.ts'

/** What the tests of every family start from. */

export const terminal = {
  name: 'terminal',
  description: 'Runs a command.',
  schema: { type: 'object', properties: { command: { type: 'string' } }, required: ['command'] },
}

export const system = (text: string): Message => ({ role: 'system', parts: [{ type: 'text', text }], cache: true })
export const user = (text: string): Message => ({ role: 'user', parts: [{ type: 'text', text }] })
export const calls = (...ids: string[]): Message => ({
  role: 'assistant',
  parts: ids.map((id) => ({ type: 'tool-call', id, name: 'terminal', arguments: `{"command":"echo ${id}"}` })),
})
export const result = (id: string, text = `${id} done`): Message => ({
  role: 'tool',
  parts: [{ type: 'tool-result', id, name: 'terminal', content: [{ type: 'text', text }], isError: false }],
})

export const request = (messages: readonly Message[], more: Partial<ModelRequest> = {}): ModelRequest => ({
  messages,
  tools: [terminal],
  toolChoice: 'auto',
  cacheKey: 'conversation-1',
  maxOutputTokens: 1000,
  ...more,
})

export function modelAt(config: LlmConfig, deps: Partial<ModelDeps> = {}): Model {
  return openModel(config, { fetch, clock: systemClock, ...deps })
}

export async function all(parts: AsyncIterable<ModelPart>): Promise<ModelPart[]> {
  const list: ModelPart[] = []
  for await (const part of parts) list.push(part)
  return list
}

export const ask = (model: Model, messages: readonly Message[], more: Partial<ModelRequest> = {}) =>
  all(model.stream(request(messages, more), new AbortController().signal))

/** The error that a call ends with; fails when there is none. */
export async function failure(asked: Promise<unknown>): Promise<ModelError> {
  try {
    await asked
  } catch (error) {
    if (error instanceof ModelError) return error
    throw error
  }
  throw new Error('the call did not fail')
}

export const textOf = (parts: readonly ModelPart[]) =>
  parts.map((part) => (part.type === 'text' ? part.text : '')).join('')
