import type { LanguageModelV4FilePart, LanguageModelV4Message, LanguageModelV4Prompt } from '@ai-sdk/provider'
import { cutMiddle } from '../tools/observation.ts'
import type { Dialect } from './family.ts'
import type { ImagePart, Message, Part } from './model.ts'

/*
 * Our messages as the library's prompt. A run of tool messages is converted together, everything else message by message,
 * and nothing looks further back: so any whole number of groups can be converted apart from the rest.
 */

type ToolResult = Extract<Part, { type: 'tool-result' }>
type UserContent = Extract<LanguageModelV4Message, { role: 'user' }>['content']
type AssistantContent = Extract<LanguageModelV4Message, { role: 'assistant' }>['content']

export interface PromptOptions {
  dialect: Dialect
  vision: boolean
  /** Text parts of a message as one string. */
  flat: boolean
  /** Characters of one text of a user or a tool; the middle of a longer one is left out. */
  longest: number
  /** Places (indexes of `messages`) that get a cache marker. */
  marked: ReadonlySet<number>
}

/** @param from convert the messages from this index on; it must begin a group */
export function toPrompt(messages: readonly Message[], from: number, options: PromptOptions): LanguageModelV4Prompt {
  const prompt: LanguageModelV4Prompt = []
  const leading = options.dialect.system === 'leading' ? leadingSystem(messages) : 0
  for (let i = 0; i < Math.min(leading, from); i++) convert(messages[i], i, leading, options, prompt)
  let images: ImagePart[] = []
  for (let i = from; i < messages.length; i++) {
    images.push(...convert(messages[i], i, leading, options, prompt))
    if (images.length === 0 || messages[i + 1]?.role === 'tool') continue
    prompt.push({ role: 'user', content: images.map(file) })
    images = []
  }
  return prompt
}

export function leadingSystem(messages: readonly Message[]): number {
  const first = messages.findIndex((message) => message.role !== 'system')
  return first === -1 ? messages.length : first
}

/**
 * Where cache markers go: after the system messages (which covers the tools too), where the history asks for them, and at its
 * end; four at most, the first and the latest three.
 */
export function markedPlaces(messages: readonly Message[]): Set<number> {
  const system = leadingSystem(messages)
  const asked = messages.slice(0, system).some(({ cache }) => cache === true)
  const isPlace = (i: number) =>
    messages[i]?.cache === true || i === messages.length - 1 || (i === system - 1 && !asked)
  const places = new Set<number>()
  for (let i = messages.length - 1; i >= 0 && places.size < 3; i--) if (isPlace(i)) places.add(i)
  for (let i = 0; i < messages.length && !places.has(i); i++) {
    if (!isPlace(i)) continue
    places.add(i)
    break
  }
  return places
}

/** Appends the converted message; answers the images that must follow the run of tool results. */
function convert(
  message: Message | undefined,
  index: number,
  leading: number,
  options: PromptOptions,
  prompt: LanguageModelV4Prompt,
): ImagePart[] {
  if (message === undefined) return []
  const { dialect, vision, flat, marked, longest } = options
  const cut = (text: string) => (text.length > longest ? cutMiddle(text, longest) : text)
  const marker = dialect.marker !== null && marked.has(index) ? { providerOptions: dialect.marker } : {}
  const outside = message.role === 'system' && dialect.system === 'leading' && index >= leading
  switch (outside ? 'user' : message.role) {
    case 'system':
      prompt.push({ role: 'system', content: textOf(message.parts), ...marker })
      return []
    case 'user':
      prompt.push({ role: 'user', content: userContent(message.parts, vision, flat, cut), ...marker })
      return []
    case 'assistant':
      prompt.push({ role: 'assistant', content: assistantContent(message.parts, dialect), ...marker })
      return []
    case 'tool': {
      const results = message.parts.filter((part) => part.type === 'tool-result')
      const inside = vision && dialect.toolImages === 'inside'
      prompt.push({
        role: 'tool',
        content: results.map((result) => toolResult(result, inside, vision, cut)),
        ...marker,
      })
      return inside || !vision ? [] : results.flatMap(({ content }) => content.filter((part) => part.type === 'image'))
    }
  }
}

const textOf = (parts: readonly Part[]) => parts.map((part) => (part.type === 'text' ? part.text : '')).join('\n')

type Cut = (text: string) => string

const noImage = '[An image was left out: this model reads text only.]'

function userContent(parts: readonly Part[], vision: boolean, flat: boolean, cut: Cut): UserContent {
  if (flat && parts.every((part) => part.type === 'text')) return [{ type: 'text' as const, text: cut(textOf(parts)) }]
  return parts.flatMap((part): UserContent => {
    if (part.type === 'text') return [{ type: 'text' as const, text: cut(part.text) }]
    if (part.type !== 'image') return []
    return vision ? [file(part)] : [{ type: 'text' as const, text: noImage }]
  })
}

function file({ url }: ImagePart): LanguageModelV4FilePart {
  const inline = /^data:([^;,]+);base64,(.*)$/s.exec(url)
  if (inline === null) return { type: 'file', mediaType: 'image/*', data: { type: 'url', url: new URL(url) } }
  return { type: 'file', mediaType: inline[1] ?? 'image/png', data: { type: 'data', data: inline[2] ?? '' } }
}

function assistantContent(parts: readonly Part[], dialect: Dialect): AssistantContent {
  return parts.flatMap((part): AssistantContent => {
    switch (part.type) {
      case 'text':
        return part.text === '' ? [] : [{ type: 'text', text: part.text }]
      case 'reasoning': {
        const providerOptions = dialect.reasoning(part)
        return providerOptions === null ? [] : [{ type: 'reasoning', text: part.text, providerOptions }]
      }
      case 'tool-call':
        return [toolCall(part, dialect)]
      default:
        return []
    }
  })
}

function toolCall({ id, name, arguments: json, signature }: Extract<Part, { type: 'tool-call' }>, dialect: Dialect) {
  const providerOptions = signature === undefined ? undefined : dialect.signed?.(signature)
  const call = { type: 'tool-call' as const, toolCallId: id, toolName: name, input: argumentsOf(json) }
  return providerOptions === undefined ? call : { ...call, providerOptions }
}

/** Providers take an object only; a call whose arguments were none is replayed as what the model said. */
function argumentsOf(json: string): unknown {
  try {
    const value: unknown = JSON.parse(json)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value
  } catch {
    // falls through: not JSON
  }
  return { malformed_arguments: json }
}

function toolResult({ id, name, content, isError }: ToolResult, inside: boolean, vision: boolean, cut: Cut) {
  const images = content.some((part) => part.type === 'image')
  const base = { type: 'tool-result' as const, toolCallId: id, toolName: name }
  if (images && inside) {
    const value = content.map((part) =>
      part.type === 'text' ? { type: 'text' as const, text: cut(part.text) } : file(part),
    )
    return { ...base, output: { type: 'content' as const, value } }
  }
  const note = vision ? '[The image follows below.]' : noImage
  const value = content.map((part) => (part.type === 'text' ? cut(part.text) : note)).join('\n')
  return { ...base, output: { type: isError ? ('error-text' as const) : ('text' as const), value } }
}
