import type { Content, LlmMessage, LogEvent } from '@parley/contract/events'
import type { ImagePart, Message, Part, TextPart } from '../model/model.ts'
import { cutMiddle } from '../tools/observation.ts'
import { blockedMessages, mainUsage, seenSeq, type EventOf } from './events.ts'

/*
 * The history as the model is shown it, grown event by event and never rebuilt differently, so that prompt caches hold.
 * What users and the platform say waits in `pending` until a call of the model takes it up: a message that came while the
 * model answered or a tool ran stands after that answer and its results. `LLMCallEvent.seen_seq` says the same to whoever
 * folds the log again, so every worker builds the same messages.
 */

export interface View {
  readonly messages: Message[]
  /** Characters of everything shown so far, for estimates. An image counts as 4,800. */
  characters: number
  /** Events shown so far. */
  events: number
  /** Tokens of a request as they were told or estimated, when `characters` were shown. Null before the first answer. */
  measured: { tokens: number; characters: number } | null
  /** Whether an image was shown. */
  images: boolean
  pending: { seq: number; parts: Part[] }[]
  /** Response ids: of the assistant message that still grows, and of the last call that was announced. */
  answering: string | null
  announced: string | null
  readonly forgotten: Forgotten
  readonly vision: boolean
  /** Images are shown as a word until the fold has passed the notice that removed them. */
  imagesRemoved: boolean
}

/** What is left out: events by id, results with a note in their place, a summary, and images up to a notice. */
export interface Forgotten {
  ids: ReadonlySet<string>
  stubs: ReadonlyMap<string, string>
  /** Stands in the place of the first event that is left out. */
  summary: string | null
  imagesUpTo: LogEvent | null
}

/** Characters of one tool result that the model is sent. */
export const resultLimit = 50_000
export const imageCharacters = 4_800

/** Folds all events; the one place that looks at the whole history, at the start and after something was forgotten. */
export function buildView(events: readonly LogEvent[], vision: boolean): View {
  const view: View = {
    messages: [],
    characters: 0,
    events: 0,
    measured: null,
    images: false,
    pending: [],
    answering: null,
    announced: null,
    forgotten: forgottenIn(events),
    vision,
    imagesRemoved: false,
  }
  view.imagesRemoved = view.forgotten.imagesUpTo !== null
  const first = events.find((event) => view.forgotten.ids.has(event.id))
  for (const event of events) {
    if (event === first && view.forgotten.summary !== null) {
      view.pending.push({ seq: 0, parts: shown(view, [text(view.forgotten.summary)]) })
    }
    foldView(view, event)
    if (event === view.forgotten.imagesUpTo) view.imagesRemoved = false
  }
  return view
}

function forgottenIn(events: readonly LogEvent[]): Forgotten {
  const ids = new Set<string>()
  const stubs = new Map<string, string>()
  let summary: string | null = null
  let imagesUpTo: LogEvent | null = null
  for (const event of events) {
    if (!changesPast(event)) continue
    if (event.kind === 'Condensation') {
      for (const id of event.forgotten_event_ids) ids.add(id)
      for (const stub of event.stubs ?? []) stubs.set(stub.event_id, stub.note)
      summary = event.summary ?? summary
    }
    for (const id of blockedMessages(event)) ids.add(id)
    if (event.kind === 'NoticeEvent') imagesUpTo = event
  }
  return { ids, stubs, summary, imagesUpTo }
}

/** Whether an event changes what earlier ones look like: the view must be built again. */
export const changesPast = (event: LogEvent): boolean =>
  event.kind === 'Condensation' ||
  (event.kind === 'NoticeEvent' && event.code === 'images_removed') ||
  blockedMessages(event).length > 0

export function foldView(view: View, event: LogEvent): void {
  if (view.forgotten.ids.has(event.id)) return
  switch (event.kind) {
    case 'SystemPromptEvent':
      return foldSystem(view, event)
    case 'LLMCallEvent':
      if (event.usage_id !== mainUsage) return
      view.announced = event.response_id
      if (event.usage.prompt_tokens > 0)
        view.measured = { tokens: event.usage.prompt_tokens, characters: view.characters }
      return takeUp(view, seenSeq(event))
    case 'Condensation':
      if (event.tokens_after !== undefined) view.measured = { tokens: event.tokens_after, characters: view.characters }
      return
    case 'MessageEvent':
      return foldMessage(view, event)
    case 'NoticeEvent':
      return foldNotice(view, event)
    case 'ActionEvent':
      return foldAction(view, event)
    case 'ObservationEvent':
      return foldObservation(view, event)
    case 'UserRejectObservation':
      return foldResult(view, event, [text(`The action was rejected: ${event.rejection_reason}`)], true)
    case 'AgentErrorEvent':
      return foldResult(view, event, [text(event.error)], true)
    default:
  }
}

/** The messages for a request now: everything pending is taken up, and the last message becomes a cache point. */
export function takeMessages(view: View): readonly Message[] {
  takeUp(view, Number.POSITIVE_INFINITY)
  return view.messages
}

function takeUp(view: View, upTo: number): void {
  const ready = view.pending.filter((one) => one.seq <= upTo)
  const { messages } = view
  const last = messages.at(-1)
  if (ready.length > 0) {
    view.pending = view.pending.filter((one) => one.seq > upTo)
    const parts = ready.flatMap((one) => one.parts)
    if (last?.role === 'user') messages[messages.length - 1] = { ...last, parts: [...last.parts, ...parts] }
    else messages.push({ role: 'user', parts })
  }
  const end = messages.at(-1)
  if (end !== undefined) end.cache = true
}

function foldSystem(view: View, event: EventOf<'SystemPromptEvent'>): void {
  if (view.messages[0]?.role === 'system') return
  view.events += 1
  const content = event.dynamic_context === null ? [event.system_prompt] : [event.system_prompt, event.dynamic_context]
  view.messages.unshift({ role: 'system', parts: shown(view, content), cache: true })
}

function foldMessage(view: View, event: EventOf<'MessageEvent'>): void {
  const parts = shown(view, [...event.llm_message.content, ...(event.extended_content ?? [])])
  if (parts.length === 0) return
  view.events += 1
  if (event.source !== 'agent') {
    // What the platform says is never said while the model answers, so the next call always takes it up.
    view.pending.push({ seq: event.source === 'user' ? event.seq : 0, parts })
    return
  }
  if (event.llm_response_id !== view.announced) takeUp(view, event.seq)
  view.messages.push({ role: 'assistant', parts: [...reasoning(event.llm_message), ...parts] })
}

/** Notices that the model has to know of to work on; the others are for people. */
const noticesForModel: ReadonlySet<string> = new Set([
  'egress_refused',
  'sandbox_limit',
  'sandbox_ended',
  'workspace_restored',
])

function foldNotice(view: View, { code, detail, seq }: EventOf<'NoticeEvent'>): void {
  if (!noticesForModel.has(code)) return
  view.events += 1
  view.pending.push({ seq, parts: shown(view, [text(`[Notice of the platform] ${detail}`)]) })
}

function foldAction(view: View, event: EventOf<'ActionEvent'>): void {
  const { tool_call_id: id, tool_name: name } = event
  const { arguments: json, signature } = event.tool_call
  const signed = signature === undefined ? {} : { signature }
  const call: Part = { type: 'tool-call', id, name, arguments: json, ...signed }
  view.characters += json.length
  view.events += 1
  if (view.answering === event.llm_response_id) {
    view.messages.findLast((message) => message.role === 'assistant')?.parts.push(call)
    return
  }
  if (event.llm_response_id !== view.announced) takeUp(view, event.seq)
  view.answering = event.llm_response_id
  const thought = shown(view, event.thought)
  view.messages.push({ role: 'assistant', parts: [...reasoning(event), ...thought, call] })
}

function foldObservation(view: View, event: EventOf<'ObservationEvent'>): void {
  const { content, is_error } = event.observation
  const stub = view.forgotten.stubs.get(event.id)
  const shownContent = stub === undefined ? content : [text(stub)]
  foldResult(view, event, [...shownContent, ...(event.extended_content ?? [])], is_error)
}

function foldResult(
  view: View,
  event: { seq: number; tool_call_id: string; tool_name: string },
  content: Content[],
  isError: boolean,
): void {
  const { tool_call_id: id, tool_name: name } = event
  const parts = shown(view, content.map(limited))
  view.events += 1
  view.messages.push({ role: 'tool', parts: [{ type: 'tool-result', id, name, content: parts, isError }] })
}

function shown(view: View, content: Content[]): (TextPart | ImagePart)[] {
  const parts = content.flatMap((one): (TextPart | ImagePart)[] => {
    if (one.type === 'text') return one.text === '' ? [] : [{ type: 'text', text: one.text }]
    if (!view.vision || view.imagesRemoved) return [{ type: 'text', text: '[image not shown]' }]
    view.images = true
    return one.image_urls.map((url) => ({ type: 'image', url }))
  })
  for (const part of parts) view.characters += part.type === 'text' ? part.text.length : imageCharacters
  return parts
}

/** Signed blocks are given back as they came; providers without them get the plain text back. */
function reasoning(from: Pick<LlmMessage, 'reasoning_content' | 'thinking_blocks'>): Part[] {
  if (from.thinking_blocks !== undefined && from.thinking_blocks.length > 0) {
    return from.thinking_blocks.map((block) => ({
      type: 'reasoning',
      text: block.thinking ?? '',
      ...(block.signature === undefined ? {} : { signature: block.signature }),
      ...(block.data === undefined ? {} : { redacted: block.data }),
    }))
  }
  return from.reasoning_content ? [{ type: 'reasoning', text: from.reasoning_content }] : []
}

const text = (value: string): Content => ({ type: 'text', text: value, cache_prompt: false })

const limited = (content: Content): Content =>
  content.type === 'text' ? text(cutMiddle(content.text, resultLimit)) : content
