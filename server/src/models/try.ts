import { type Model, ModelError } from '@parley/agent/model/model'
import { openModel } from '@parley/agent/model/models'
import { demoModel, type ModelTest } from '@parley/contract/models'
import type { StoredSettings } from '@parley/contract/settings'
import type { Clock } from '@parley/store/clock'

/** Whether a model answers, tried by asking it for a word. */

export type TryModel = (settings: StoredSettings, signal: AbortSignal) => Promise<ModelTest>

const longestMs = 30_000

export const modelTrier =
  ({ fetch: way, clock }: { fetch: typeof fetch; clock: Clock }): TryModel =>
  async ({ llm_model, llm_base_url, llm_api_key }, signal) => {
    const config = { model: llm_model ?? demoModel, api_key: llm_api_key, base_url: llm_base_url }
    const model = openModel(config, { fetch: way, clock })
    const from = clock.millis()
    const heard = (code: string | null, detail: string | null): ModelTest => ({
      ok: code === null,
      model: model.name,
      latency_ms: clock.millis() - from,
      code,
      detail,
    })
    try {
      await firstWord(model, AbortSignal.any([signal, AbortSignal.timeout(longestMs)]))
      return heard(null, null)
    } catch (error) {
      if (signal.aborted) throw signal.reason
      if (error instanceof ModelError) return heard(error.kind, error.message.slice(0, 1_000))
      if ((error as Error | null)?.name === 'TimeoutError')
        return heard('timeout', `No answer within ${longestMs / 1000} seconds.`)
      throw error
    }
  }

const request = {
  messages: [{ role: 'user' as const, parts: [{ type: 'text' as const, text: 'Reply with the word OK.' }] }],
  tools: [],
  toolChoice: 'none' as const,
  cacheKey: 'test',
  maxOutputTokens: null,
}

/** Resolves with the first sign of an answer; the rest is not waited for. */
async function firstWord(model: Model, signal: AbortSignal): Promise<void> {
  for await (const _ of model.stream(request, signal)) return
}
