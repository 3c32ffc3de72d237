import type { FollowedEvent } from '../follow.ts'

const longest = 2000

/** An event for people: number, kind, and what it says. */
export function eventLines(event: FollowedEvent): string[] {
  const said = [textOf(event), actionOf(event), resultOf(event)].filter((text) => text !== '').join('\n')
  const text = said.length > longest ? `${said.slice(0, longest)} …` : said
  return [
    `${event.seq ?? ''} ${event.kind}`.trim(),
    ...text
      .split('\n')
      .filter(Boolean)
      .map((line) => `  ${line}`),
  ]
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null

function contentText(content: unknown): string {
  if (!Array.isArray(content)) return ''
  return content.map((part: unknown) => (isObject(part) && typeof part.text === 'string' ? part.text : '')).join('\n')
}

const textOf = ({ llm_message, thought, detail, error }: FollowedEvent) =>
  [
    isObject(llm_message) ? contentText(llm_message.content) : '',
    contentText(thought),
    typeof detail === 'string' ? detail : '',
    typeof error === 'string' ? error : '',
  ]
    .filter((text) => text !== '')
    .join('\n')

const actionOf = ({ tool_name, tool_call }: FollowedEvent) =>
  isObject(tool_call) ? `${String(tool_name)} ${String(tool_call.arguments ?? '')}` : ''

const resultOf = ({ observation }: FollowedEvent) => (isObject(observation) ? contentText(observation.content) : '')
