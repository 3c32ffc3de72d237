import type { CallToolResult, Tool as ListedTool } from '@modelcontextprotocol/sdk/types.js'
import type { Content, Observation } from '@parley/contract/events'
import { z } from 'zod'
import { cutMiddle, failed, observed, textContent } from '../tools/observation.ts'
import { outcomeUnknown } from '../tools/outcome.ts'
import type { Tool, ToolContext } from '../tools/tool.ts'
import { reason } from './connect.ts'
import { isUnanswered, type ServerLink } from './server.ts'
import { filled } from './variables.ts'

const kind = 'MCPToolObservation'
const input = z.object({ data: z.record(z.string(), z.unknown()) })
const textLimit = 50_000
const imageLimit = 5 * 1024 * 1024
const mostImages = 10
const descriptionLimit = 2_000
const schemaLimit = 20_000

export interface Naming {
  /** Names that other tools have. */
  taken: ReadonlySet<string>
  /** Several servers: the name of a tool begins with its server's. */
  several: boolean
  /** Only tools whose own name does. */
  matches: (name: string) => boolean
}

/** A server's tools as the loop knows tools. A tool with a schema that is too large is left out. */
export function mcpTools(link: ServerLink, { taken, several, matches }: Naming): Tool[] {
  const names = new Set(taken)
  return link.tools().flatMap((listed) => {
    if (!matches(listed.name)) return []
    if (JSON.stringify(listed.inputSchema).length > schemaLimit) return []
    const own = callable(listed.name)
    const name = several || names.has(own) ? callable(`${link.name}_${listed.name}`) : own
    if (names.has(name)) return []
    names.add(name)
    return [mcpTool(link, listed, name)]
  })
}

/** Providers take letters, digits, dashes and underscores, at most 64. */
const callable = (name: string): string => name.replaceAll(/[^a-zA-Z0-9_-]/g, '_').slice(0, 64)

function mcpTool(link: ServerLink, listed: ListedTool, name: string): Tool<typeof input> {
  const { readOnlyHint = false } = listed.annotations ?? {}
  return {
    name,
    aliases: [],
    description: (listed.description ?? listed.title ?? listed.name).slice(0, descriptionLimit),
    input,
    schema: listed.inputSchema,
    actionKind: 'MCPToolAction',
    observationKind: kind,
    readOnly: readOnlyHint,
    handless: link.server.kind !== 'stdio',
    resources: () => [`mcp:${link.name}:${listed.name}`],
    repair: (given) => ({ data: given }),
    run: ({ data }, context) => call(link, listed.name, data, context),
  }
}

async function call(
  link: ServerLink,
  name: string,
  data: Record<string, unknown>,
  context: ToolContext,
): Promise<Observation> {
  const facts = { tool_name: name, server: link.name }
  const args = filled(data, await context.secretsFor(JSON.stringify(data)))
  try {
    const result = await link.call(name, args, context.signal)
    return { ...observed(kind, '', facts), content: contentOf(result), is_error: result.isError === true }
  } catch (error) {
    if (context.signal.aborted) throw context.signal.reason
    const unsure = isUnanswered(error) ? ` ${outcomeUnknown}` : ''
    return failed(kind, `${link.name} did not do it: ${reason(error)}${unsure}`, facts)
  }
}

function contentOf(result: CallToolResult): Content[] {
  const content: Content[] = []
  let images = 0
  let left = textLimit
  for (const block of result.content) {
    if (block.type === 'image' && images < mostImages && block.data.length <= imageLimit) {
      images += 1
      content.push({ type: 'image', image_urls: [`data:${block.mimeType};base64,${block.data}`], cache_prompt: false })
    } else {
      const text = cutMiddle(blockText(block), Math.max(left, 200))
      left -= text.length
      content.push(textContent(text))
    }
    if (left <= 0) break
  }
  if (content.length === 0 && result.structuredContent !== undefined)
    return [textContent(cutMiddle(JSON.stringify(result.structuredContent), textLimit))]
  return content
}

function blockText(block: CallToolResult['content'][number]): string {
  if (block.type === 'text') return block.text
  if (block.type === 'resource_link') return `${block.name}: ${block.uri}`
  if (block.type === 'resource' && 'text' in block.resource) return block.resource.text
  return `[${block.type} not shown]`
}
