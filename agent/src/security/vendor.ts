import type { VendorAnalyzer } from '@parley/contract/confirmation'
import type { Content, LogEvent } from '@parley/contract/events'
import { z } from 'zod'
import { cutMiddle } from '../tools/observation.ts'
import type { Analyzer, Finding, Judged } from './analyzer.ts'

/** Bytes of the service's answer that are read. */
const answerLimit = 64 * 1024

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

async function limited(answer: Response): Promise<string> {
  const pieces: Uint8Array[] = []
  let size = 0
  for await (const piece of answer.body ?? []) {
    pieces.push(piece)
    if ((size += piece.byteLength) > answerLimit) throw new SyntaxError('too long')
  }
  return Buffer.concat(pieces).toString('utf8')
}

type ChatMessage = Record<string, unknown>

function messagesOf(config: VendorAnalyzer, action: Judged, history: readonly LogEvent[]): ChatMessage[] {
  const cut = (text: string) => cutMiddle(text, config.max_message_chars)
  const told = history.flatMap((event) => chatMessage(event, cut))
  const recent = config.history_limit === 0 ? [] : told.slice(-config.history_limit)
  return [...recent, called(action.call.id, action.call.name, withoutRisk(action.call.arguments), cut)]
}

function chatMessage(event: LogEvent, cut: (text: string) => string): ChatMessage[] {
  switch (event.kind) {
    case 'SystemPromptEvent':
      return [{ role: 'system', content: cut(textOf([event.system_prompt])) }]
    case 'MessageEvent':
      return [
        { role: event.source === 'agent' ? 'assistant' : 'user', content: cut(textOf(event.llm_message.content)) },
      ]
    case 'ActionEvent':
      return [called(event.tool_call_id, event.tool_name, withoutRisk(event.tool_call.arguments), cut)]
    case 'ObservationEvent':
      return [{ role: 'tool', tool_call_id: event.tool_call_id, content: cut(textOf(event.observation.content)) }]
    case 'AgentErrorEvent':
      return [{ role: 'tool', tool_call_id: event.tool_call_id, content: cut(event.error) }]
    case 'UserRejectObservation':
      return [{ role: 'tool', tool_call_id: event.tool_call_id, content: cut(event.rejection_reason) }]
    default:
      return []
  }
}

const called = (id: string, name: string, args: string, cut: (text: string) => string): ChatMessage => ({
  role: 'assistant',
  content: null,
  tool_calls: [{ id, type: 'function', function: { name, arguments: cut(args) } }],
})

/** The model's own rating would colour the judgement. */
function withoutRisk(args: string): string {
  if (!args.includes('security_risk')) return args
  const { security_risk: _, ...rest } = JSON.parse(args) as Record<string, unknown>
  return JSON.stringify(rest)
}

const textOf = (content: readonly Content[]): string =>
  content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join(' ')
