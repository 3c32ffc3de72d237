import { z } from 'zod'
import type { ToolDefinition } from '../model/model.ts'
import type { Tool } from './tool.ts'

/** The tools of one run: found by any name they are known by, described to the model in a fixed order. */
export interface Toolset {
  readonly tools: readonly Tool[]
  readonly definitions: readonly ToolDefinition[]
  find(name: string): Tool | undefined
}

const summary = { type: 'string', description: 'Why, in ten words.' }
const risk = {
  type: 'string',
  enum: ['LOW', 'MEDIUM', 'HIGH'],
  description:
    'LOW: reads or changes the workspace only. MEDIUM: installs, runs unknown code. HIGH: touches secrets, the network or things that cannot be undone.',
}

/** `askRisk` adds `security_risk` to every tool that changes something. */
export function toolset(tools: readonly Tool[], { askRisk }: { askRisk: boolean }): Toolset {
  const byName = new Map<string, Tool>()
  for (const tool of tools) for (const alias of tool.aliases) byName.set(alias.toLowerCase(), tool)
  for (const tool of tools) byName.set(tool.name, tool)
  return {
    tools,
    definitions: tools.map((tool) => definition(tool, askRisk)),
    find: (name) => byName.get(name) ?? byName.get(name.toLowerCase()),
  }
}

function definition(tool: Tool, askRisk: boolean): ToolDefinition {
  const own = tool.schema ?? z.toJSONSchema(tool.input, { io: 'input', override: plain })
  const { properties, required, $defs } = own as JsonObject
  const asked = askRisk && !tool.readOnly
  const needed = [...(asked ? ['security_risk'] : []), ...(required ?? [])]
  return {
    name: tool.name,
    description: tool.description,
    schema: {
      type: 'object',
      properties: {
        ...(tool.harmless === true ? {} : { summary }),
        ...(asked ? { security_risk: risk } : {}),
        ...properties,
      },
      ...(needed.length === 0 ? {} : { required: needed }),
      ...($defs === undefined ? {} : { $defs }),
    },
  }
}

/** Without bounds that every number has anyway: each byte of a definition is paid for with every conversation. */
function plain({ jsonSchema }: { jsonSchema: Bounds }): void {
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
  if (jsonSchema.minLength === 1) delete jsonSchema.minLength
  if (jsonSchema.minItems === 1) delete jsonSchema.minItems
  if (jsonSchema.minimum === 0) delete jsonSchema.minimum
  // Who writes more than a tool takes is told so.
  delete jsonSchema.maxLength
}

interface Bounds {
  minimum?: number
  maximum?: number
  minLength?: number
  maxLength?: number
  minItems?: number
}

/** What we use of the schema of an object. */
interface JsonObject {
  properties?: Record<string, unknown>
  required?: string[]
  $defs?: Record<string, unknown>
}
