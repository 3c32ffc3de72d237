import type { Observation } from '@parley/contract/events'
import { z } from 'zod'
import { orAborted } from '../loop/stop.ts'
import { failed, observed } from '../tools/observation.ts'
import type { Tool, ToolContext } from '../tools/tool.ts'
import * as actions from './actions.ts'
import { BrowserError } from './cdp.ts'
import { type BrowserSession, openBrowser } from './session.ts'

/*
 * A browser in the sandbox, one for a conversation, started with the first call. It reaches what the sandbox reaches: its own
 * ports, and the web by the sandbox's way out.
 */

const kind = 'BrowserObservation'
const input = z.object({
  action: z.enum(['open', 'read', 'click', 'type', 'press', 'back', 'script', 'screenshot']),
  url: z.string().max(10_000).optional(),
  element: z.int().optional().describe('Number in the last answer.'),
  text: z.string().max(50_000).optional().describe('To type (\\n at the end: Enter), a key, or JavaScript.'),
})
type Input = z.infer<typeof input>
type Action = Input['action']

/** `path`: of the program in the sandbox. */
export const browser = (path: string): Tool<typeof input> => ({
  name: 'browser',
  aliases: ['BrowserToolSet', 'BrowserTool', ...Object.keys(otherNames)],
  description: 'A browser in the sandbox. Answers with the page as text, usable elements numbered.',
  input,
  actionKind: 'BrowserAction',
  observationKind: kind,
  readOnly: false,
  resources: () => ['browser'],
  risk: ({ action, url = '' }) => (action !== 'open' || isOwn(url) ? 'LOW' : 'MEDIUM'),
  repair,
  run: (call, context) => run(path, call, context),
  close: (memory) => sessionIn(memory)?.close() ?? Promise.resolve(),
})

const isOwn = (url: string): boolean => /^(https?:\/\/)?(localhost|127\.0\.0\.1)([:/]|$)/.test(url)

const key = 'session'
const sessionIn = (memory: ToolContext['memory']) => memory.get(key) as BrowserSession | undefined

async function run(path: string, call: Input, context: ToolContext): Promise<Observation> {
  const facts = { command: call.action, ...(call.url === undefined ? {} : { url: call.url }) }
  try {
    const page = await orAborted(sessionFor(path, call, context), context.signal)
    const found = await orAborted(verbs[call.action](page, call, context.signal), context.signal)
    const text = [found.text, ...page.news().map((line) => `[${line}]`)].filter((part) => part !== '').join('\n')
    const shown = observed(kind, text, facts)
    if (found.image === undefined) return shown
    return { ...shown, content: [...shown.content, { type: 'image', image_urls: [found.image], cache_prompt: false }] }
  } catch (error) {
    if (!(error instanceof BrowserError)) throw error
    return failed(kind, error.message, facts)
  }
}

async function sessionFor(
  path: string,
  { action }: Input,
  { hands, memory, workingDir }: ToolContext,
): Promise<BrowserSession> {
  const held = sessionIn(memory)
  if (held !== undefined && !held.gone) return held
  await held?.close()
  memory.delete(key)
  if (action !== 'open') throw new BrowserError('No page is open. Begin with open.')
  const session = await openBrowser(hands, path, workingDir)
  memory.set(key, session)
  return session
}

interface Found {
  text: string
  image?: string
}

type Verb = (page: BrowserSession, call: Input, signal: AbortSignal) => Promise<Found>

/** Does it, lets the page come to rest, and reads it. */
const then =
  (act: (page: BrowserSession, call: Input) => Promise<void>): Verb =>
  async (page, call, signal) => {
    await act(page, call)
    await page.settled(signal)
    return { text: await actions.readPage(page) }
  }

const verbs: Readonly<Record<Action, Verb>> = {
  open: then((page, { url }) => actions.go(page, addressOf(url))),
  read: then(async () => {}),
  click: then((page, { element }) => actions.click(page, numberOf(element))),
  type: then((page, { element, text = '' }) => actions.type(page, numberOf(element), text)),
  press: then((page, { text = '' }) => actions.press(page, text)),
  back: then(actions.back),
  script: async (page, { text = '' }) => ({ text: await actions.script(page, text) }),
  screenshot: async (page) => ({ text: '', image: await actions.screenshot(page) }),
}

function addressOf(url: string | undefined): string {
  if (url === undefined || url.trim() === '') throw new BrowserError('url is missing.')
  const whole = /^[a-z][a-z0-9+.-]*:/i.test(url) && !/^localhost:/i.test(url) ? url : `http://${url}`
  if (!/^(https?|file|about|data):/i.test(whole) || !URL.canParse(whole))
    throw new BrowserError(`${url} cannot be opened.`)
  return whole
}

function numberOf(element: number | undefined): number {
  if (element === undefined) throw new BrowserError('element is missing: the number of what is meant.')
  return element
}

/** Other makers' tools for one action each. */
const otherNames: Readonly<Record<string, Action>> = {
  browser_navigate: 'open',
  browser_click: 'click',
  browser_type: 'type',
  browser_get_state: 'read',
  browser_get_content: 'read',
  browser_scroll: 'press',
  browser_go_back: 'back',
}

function repair(given: Record<string, unknown>, calledAs: string): Record<string, unknown> {
  const { index, key, direction, script, ...rest } = given
  const named = otherNames[calledAs]
  const text =
    given['text'] ?? key ?? script ?? (direction === 'up' ? 'PageUp' : direction === 'down' ? 'PageDown' : undefined)
  const action = given['action'] === 'navigate' || given['action'] === 'goto' ? 'open' : (given['action'] ?? named)
  return {
    ...rest,
    ...(action === undefined ? {} : { action }),
    ...(rest['element'] === undefined && typeof index === 'number' ? { element: index } : {}),
    ...(text === undefined ? {} : { text }),
  }
}
