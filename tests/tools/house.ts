import { setTimeout as sleep } from 'node:timers/promises'
import { parley, type Parley } from '@parley/client/client'
import { start } from '@parley/client/follow'
import { type Event, type Content } from '@parley/contract/events'
import { type ExecutionStatus, executionStatuses, restsUntilAsked } from '@parley/contract/execution'
import type { StartRequestInput } from '@parley/contract/start-request'
import { type Clock, systemClock } from '@parley/store/clock'
import { openTestServer, type TestServer } from '../../server/src/testing.ts'
import { type ForgeServer, openForgeServer } from './forge-server.ts'
import type { HostedRepository } from './forge-world.ts'
import { oftenAsked } from './limits.ts'
import { openScriptedLlm, type Script, type ScriptedLlm } from './scripted-llm.ts'

/*
 * The whole house for a journey: a server with its database and sandboxes, a model that plays a script, and a forge whose
 * repositories are behind a token. A message that has `[[script:NAME]]` starts that script.
 */

export const forgeToken = 'token-of-ada-a8f3c1d97b5e'
export const llmKey = 'sk-llm-key-of-ada-5c02b7e14d90'

export interface House extends AsyncDisposable {
  server: TestServer
  llm: ScriptedLlm
  forge: ForgeServer
  /** A person who has the scripted model in the settings and the forge connected. */
  ada: Parley
}

export interface HouseSetup {
  scripts: Record<string, { turns: object[]; [field: string]: unknown }>
  /** Answers to requests outside the scripts. */
  side?: object[]
  repositories?: Record<string, HostedRepository>
  /** Repositories that the forge lists, and cannot give. */
  unfilled?: Record<string, HostedRepository>
  /** Further `host:port` that may be reached although private. */
  privateHosts?: string[]
  env?: Record<string, string>
  clock?: Clock
}

export async function openHouse({
  scripts,
  side = [],
  repositories = {},
  unfilled = {},
  privateHosts: more = [],
  env = {},
  clock = systemClock,
}: HouseSetup): Promise<House> {
  await using opened = new AsyncDisposableStack()
  const llm = opened.use(await openScriptedLlm(scriptOf(scripts, side)))
  const forge = opened.use(await openForgeServer({ token: forgeToken, repositories, unfilled, address: '127.0.0.2' }))
  const privateHosts = [...[llm.url, forge.url].map((url) => new URL(url).host), ...more]
  const server = opened.use(await openTestServer({ privateHosts, env: { ...oftenAsked, ...env }, clock }))
  const ada = parley({ baseUrl: server.url, key: await server.keyOf('ada') })
  await useModel(ada, llm.url)
  await ada.git.connect({ body: { provider_tokens: { open_forge: { token: forgeToken, host: forge.url } } } })
  const all = opened.move()
  return { server, llm, forge, ada, [Symbol.asyncDispose]: () => all.disposeAsync() }
}

/** The question for a title has no answer: the first line of a message is the title. */
const noTitle = {
  when: { system: 'name conversations', noTools: true },
  fault: { type: 'status', status: 401, times: -1 },
}

export const scriptOf = (scripts: HouseSetup['scripts'], side: object[] = []): Script => ({
  model: 'scripted-1',
  turns: [],
  scripts,
  side: [...side, noTitle],
})

export async function useModel(person: Parley, url: string): Promise<void> {
  const model = { llm_model: 'openai-compatible/scripted-1', llm_base_url: `${url}/v1`, llm_api_key: llmKey }
  await person.settings.update({ body: model })
}

/** One turn of a script: a command in the terminal of the sandbox. */
export const runs = (command: string, more: object = {}): object => ({
  tools: [{ name: 'terminal', args: { command } }],
  ...more,
})

export const text = (words: string): Content[] => [{ type: 'text', text: words, cache_prompt: false }]
const message = (words: string) => ({ role: 'user' as const, content: text(words), run: true })

/** A message for the start request, with what else the request says. */
export const says = (words: string, more: StartRequestInput = {}): StartRequestInput => ({
  ...more,
  initial_message: message(words),
})

/** The id of a conversation that is READY. */
export async function begin(person: Parley, request: StartRequestInput, ms = 30_000): Promise<string> {
  const task = await start(person, request, { signal: AbortSignal.timeout(ms), pollMs: 100 })
  return task.app_conversation_id ?? fail('a start that is READY has no conversation')
}

/** Sends a message; its number in the log. */
export async function say(person: Parley, id: string, words: string, run = true): Promise<number> {
  const sent = await person.events.post({ params: { id }, body: { ...message(words), run } })
  return sent.seq
}

export async function eventsOf(person: Parley, id: string, after = 0): Promise<Event[]> {
  const events: Event[] = []
  for (;;) {
    const seq = events.at(-1)?.seq ?? after
    const page = await person.events.search({ params: { id }, query: { seq__gt: seq, limit: 100 } })
    events.push(...page.items)
    if (page.next_page_id === null) return events
  }
}

export interface Rest {
  status: ExecutionStatus
  /** All after the number that was given. */
  events: Event[]
}

/** Where the run came to rest that was asked for by the event with number `after`. */
export async function rest(person: Parley, id: string, after = 0, ms = 30_000): Promise<Rest> {
  return until(`conversation ${id} is at rest`, ms, async () => {
    const events = await eventsOf(person, id, after)
    const last = events.findLast(
      (event) => event.kind === 'ConversationStateUpdateEvent' && event.key === 'execution_status',
    )
    const status = executionStatuses.find((one) => one === last?.value)
    return status !== undefined && (status === 'paused' || restsUntilAsked(status)) ? { status, events } : undefined
  })
}

/** What `look` gives as soon as it gives something; rejects after `ms`. */
export async function until<T>(
  what: string,
  ms: number,
  look: () => Promise<T | undefined | false> | T | undefined | false,
): Promise<T> {
  const end = Date.now() + ms
  for (;;) {
    const seen = await look()
    if (seen !== undefined && seen !== false) return seen
    if (Date.now() > end) throw new Error(`Not within ${ms} ms: ${what}`)
    await sleep(40)
  }
}

/** The texts of the observations, in order. */
export const observations = (events: readonly Event[]): string[] =>
  events.flatMap((event) => {
    const said = event.observation as { content: Content[] } | undefined
    return said === undefined ? [] : [said.content.map((part) => (part.type === 'text' ? part.text : '')).join('')]
  })

export const ofKind = (events: readonly Event[], kind: string): Event[] => events.filter((event) => event.kind === kind)

function fail(why: string): never {
  throw new Error(why)
}
