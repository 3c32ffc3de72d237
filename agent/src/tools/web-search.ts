import { z } from 'zod'
import { failed, observed } from './observation.ts'
import type { Tool } from './tool.ts'

const kind = 'WebSearchObservation'
const timeoutMs = 30_000
const mostResults = 8
const snippetLimit = 1_000
const answerLimit = 1024 * 1024

const input = z.object({ query: z.string().min(1).max(400) })

/** The provider's answer; https://docs.tavily.com describes it. */
const Answer = z.looseObject({
  results: z.array(z.looseObject({ title: z.string().default(''), url: z.string(), content: z.string().default('') })),
})

export interface SearchAccess {
  fetch: typeof fetch
  key: string
  /** Of another server that speaks as the provider does. */
  baseUrl?: string
}

/** Searches the web with the user's key for Tavily, the provider that `search_api_key` of the settings is for. */
export function webSearch({ fetch, key, baseUrl = 'https://api.tavily.com' }: SearchAccess): Tool<typeof input> {
  return {
    name: 'web_search',
    aliases: ['WebSearchTool'],
    description: 'Searches the web: titles, addresses and excerpts.',
    input,
    actionKind: 'WebSearchAction',
    observationKind: kind,
    readOnly: true,
    handless: true,
    resources: () => [],
    async run({ query }, { signal }) {
      const response = await fetch(`${baseUrl}/search`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
        body: JSON.stringify({ query, max_results: mostResults }),
        signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
      }).catch((error: unknown) => (error instanceof Error ? error : new Error(String(error))))
      if (signal.aborted) throw signal.reason
      if (response instanceof Error) return failed(kind, `The search did not answer: ${response.message}`, { query })
      if (!response.ok) return failed(kind, refusal(response.status), { query })
      const read = Answer.safeParse(await jsonOf(response))
      if (!read.success) return failed(kind, 'The answer of the search cannot be read.', { query })
      const results = read.data.results.slice(0, mostResults)
      const lines = results.map((one) => `${one.title}\n${one.url}\n${one.content.slice(0, snippetLimit)}`)
      const urls = results.map(({ url }) => url)
      return observed(kind, lines.length === 0 ? 'Nothing found.' : lines.join('\n\n'), { query, urls })
    },
  }
}

function refusal(status: number): string {
  if (status === 401 || status === 403) return 'The search refuses the key of the settings.'
  return status === 429 || status === 432
    ? 'The search has no more calls for this key now.'
    : `The search answered ${status}.`
}

async function jsonOf(response: Response): Promise<unknown> {
  try {
    const text = await response.text()
    return text.length > answerLimit ? null : (JSON.parse(text) as unknown)
  } catch {
    return null
  }
}
