import { z } from 'zod'
import { newestChatMessages } from '../chat-history.ts'
import { limited } from '../limited-answer.ts'
import { cutMiddle } from '../tools/observation.ts'
import type { Critic, Verdict } from './critic.ts'

/* A classifier outside: it reads the conversation and answers with a probability for each of its labels. */

export interface ApiCriticOptions {
  url: string
  key: string | null
  model: string | null
  /** A label from this probability on is a complaint. */
  issueThreshold: number
  timeoutMs: number
}

const share = z.number().min(0).max(1)
const Answer = z.object({ probabilities: z.record(z.string().max(255), share) })

const mostMessages = 400
const mostCharacters = 20_000
/** The label of work that is done; the others name what is wrong with it. */
const successLabel = 'success'

export function apiBasedCritic(options: ApiCriticOptions, way: typeof fetch): Critic {
  return {
    kind: 'APIBasedCritic',
    async judge({ history }, signal) {
      const late = AbortSignal.timeout(options.timeoutMs)
      const messages = newestChatMessages(history, mostMessages, (text) => cutMiddle(text, mostCharacters))
      const answer = await way(options.url, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          ...(options.key === null ? {} : { authorization: `Bearer ${options.key}` }),
        },
        body: JSON.stringify({ model: options.model, messages }),
        signal: AbortSignal.any([signal, late]),
      }).catch((error: unknown) => {
        throw late.aborted ? new Error(`No answer within ${options.timeoutMs / 1000} s.`) : error
      })
      if (answer.status !== 200) {
        await answer.body?.cancel()
        throw new Error(`The service answered ${answer.status}.`)
      }
      return verdict(Answer.parse(JSON.parse(await limited(answer))).probabilities, options.issueThreshold)
    },
  }
}

/** Scored by the label `success`, or by the likeliest fault where there is none. */
function verdict(probabilities: Record<string, number>, threshold: number): Verdict {
  const faults = Object.entries(probabilities)
    .filter(([label]) => label !== successLabel)
    .sort(([, a], [, b]) => b - a)
  const score = probabilities[successLabel] ?? 1 - (faults[0]?.[1] ?? 0)
  const named = faults.filter(([, probability]) => probability >= threshold).map(([label]) => label)
  const issues = named.length === 0 ? '' : ` What is probably wrong: ${named.join(', ')}.`
  const message =
    score === 1 ? null : `It is judged to be done with a probability of ${Math.round(score * 100)} %.${issues}`
  return { score, message, metadata: { probabilities } }
}
