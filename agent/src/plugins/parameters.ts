import type { MessagePayload } from '@parley/contract/message'
import type { PluginInput } from '@parley/contract/plugins'
import { textContent } from '../tools/observation.ts'

/** What the user set for the plugins, as a block of the first message; null when nothing was set. */
export function parameterText(plugins: readonly PluginInput[]): string | null {
  const set = plugins.filter(({ parameters }) => Object.keys(parameters ?? {}).length > 0)
  if (set.length === 0) return null
  const groups = set.map(({ source, parameters }) => {
    const lines = Object.entries(parameters ?? {}).map(([key, value]) => `- ${key}: ${spelled(value)}`)
    return set.length > 1 ? `${source}:\n${lines.join('\n')}` : lines.join('\n')
  })
  return `Plugin Configuration Parameters:\n${groups.join('\n\n')}`
}

const spelled = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))

/** The first message with the block after its last text; a message of its own, to be worked on, where there is none. */
export function withParameters(message: MessagePayload | null, plugins: readonly PluginInput[]): MessagePayload | null {
  const text = parameterText(plugins)
  if (text === null) return message
  if (message === null) return { role: 'user', content: [textContent(text)], run: true }
  const at = message.content.findLastIndex((part) => part.type === 'text')
  const last = message.content[at]
  if (last?.type !== 'text') return { ...message, content: [...message.content, textContent(text)] }
  return { ...message, content: message.content.with(at, { ...last, text: `${last.text}\n\n${text}` }) }
}
