import type { VendorAnalyzer } from '@parley/contract/confirmation'
import type { LogEvent } from '@parley/contract/events'
import { z } from 'zod'
import { called, type ChatMessage, newestChatMessages, withoutRisk } from '../chat-history.ts'
import { limited } from '../limited-answer.ts'
import { cutMiddle } from '../tools/observation.ts'
import type { Analyzer, Finding, Judged } from './analyzer.ts'

const Answer = z.object({ violation: z.number().min(0).max(1), ipi: z.boolean().optional() })

/**
 * A scoring service outside. It is sent the newest events as chat messages and the action to judge; its score is mapped by
 * the thresholds, and an answer that it saw an injected instruction is HIGH. `fetch` is the only way to it.
 */
export function vendorAnalyzer(config: VendorAnalyzer, way: typeof fetch): Analyzer {
  const failed = (reason: string): Finding => ({
    level: config.on_failure === 'high' ? 'HIGH' : 'UNKNOWN',
    source: 'vendor',
    score: null,
    reason,
  })
  return {
    kind: 'VendorAnalyzer',
    asksModel: false,
    outside: true,
    async judge(action, history, signal) {
      const { api_url, api_key } = config
      if (api_url === null || api_key === null) return failed('The service has no address or no key.')
      const late = AbortSignal.timeout(Math.ceil(config.timeout * 1000))
      try {
        const answer = await way(api_url, {
          method: 'POST',
          headers: { authorization: `Bearer ${api_key}`, 'content-type': 'application/json' },
          body: JSON.stringify({ messages: messagesOf(config, action, history), policy_id: config.policy_id }),
          signal: AbortSignal.any([signal, late]),
        })
        if (answer.status !== 200) {
          await answer.body?.cancel()
          return failed(`The service answered ${answer.status}.`)
        }
        return scored(config, Answer.parse(JSON.parse(await limited(answer))))
      } catch (error) {
        if (late.aborted) return failed(`The service did not answer within ${config.timeout} s.`)
        return failed(error instanceof SyntaxError || error instanceof z.ZodError ? garbled : 'No answer.')
      }
    },
  }
}

const garbled = 'The service’s answer has no score.'

function scored(
  { low_threshold, medium_threshold }: VendorAnalyzer,
  { violation, ipi }: z.infer<typeof Answer>,
): Finding {
  const level = violation <= low_threshold ? 'LOW' : violation <= medium_threshold ? 'MEDIUM' : 'HIGH'
  const found = { source: 'vendor', score: violation }
  return ipi === true ? { ...found, level: 'HIGH', reason: 'injected instruction' } : { ...found, level, reason: null }
}

function messagesOf(config: VendorAnalyzer, action: Judged, history: readonly LogEvent[]): ChatMessage[] {
  const cut = (text: string) => cutMiddle(text, config.max_message_chars)
  const recent = newestChatMessages(history, config.history_limit, cut)
  return [...recent, called(action.call.id, action.call.name, withoutRisk(action.call.arguments), cut)]
}
