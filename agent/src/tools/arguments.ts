import type { Risk, ToolCall } from '@parley/contract/events'
import type { z } from 'zod'
import type { Tool } from './tool.ts'
import type { Toolset } from './toolset.ts'

/** A call as the model wrote it, read as far as it can be read. `input` null: it cannot be executed, `error` says why. */
export type Proposal = {
  /** As it is stored and sent back to the provider: a known name and valid JSON. */
  call: ToolCall
  summary: string | null
  risk: Risk
} & ({ tool: Tool; input: Record<string, unknown>; error: null } | { tool: Tool | null; input: null; error: string })

const argumentLimit = 2 * 1024 * 1024
const malformed = JSON.stringify({ malformed: true })

/**
 * Reads a call: JSON (mended where that is safe), null values dropped, the tool's own repairs, then its schema.
 * `cut`: the answer ended at the output limit, so nothing is mended and what does not parse is reported as cut.
 */
export function propose(call: ToolCall, tools: Toolset, cut = false): Proposal {
  const name = call.name.replace(/[<\s].*$/s, '')
  const tool = tools.find(name) ?? null
  const stored = { ...call, name: tool?.name ?? (name === '' ? 'unknown' : name), arguments: malformed }
  const refused = (error: string): Proposal => ({
    call: stored,
    tool,
    input: null,
    error,
    summary: null,
    risk: 'UNKNOWN',
  })

  const parsed = readJson(call.arguments, cut)
  if (parsed === undefined && cut)
    return refused(
      'The answer was cut at the output limit, so this call is incomplete and was not run. Send it again, in smaller pieces.',
    )
  if (parsed === undefined)
    return refused(`The arguments of ${stored.name} are not a JSON object. Send the call again with valid JSON.`)
  stored.arguments = JSON.stringify(parsed)
  if (tool === null)
    return refused(`There is no tool ${stored.name}. Tools: ${tools.tools.map((one) => one.name).join(', ')}.`)

  const { summary, security_risk, ...rest } = withoutNulls(parsed)
  const given = { ...rest, ...ownMembers(tool, { summary, security_risk }) }
  const input = tool.repair?.(given, name) ?? given
  const read = check(tool, input)
  const said = { summary: typeof summary === 'string' ? summary : null, risk: riskOf(security_risk) }
  if (!read.success) return { ...refused(`Wrong arguments for ${tool.name}: ${problemsOf(read.error)}`), ...said }
  return { call: stored, tool, input: read.data as Record<string, unknown>, error: null, ...said }
}

/** Of what every call may say, that which this tool has as an argument of its own. */
function ownMembers({ schema }: Tool, said: Record<string, unknown>): Record<string, unknown> {
  const properties = schema?.['properties']
  if (properties === null || typeof properties !== 'object') return {}
  return Object.fromEntries(Object.entries(said).filter(([name, value]) => value !== undefined && name in properties))
}

/** Undefined: not a JSON object, and not to be mended into one. */
function readJson(text: string, exact: boolean): Record<string, unknown> | undefined {
  if (text.length > argumentLimit) return undefined
  if (text.trim() === '') return exact ? undefined : {}
  const tries = exact ? [text] : [text, escapedControls(text), firstObject(escapedControls(text))]
  for (const candidate of tries) {
    try {
      const value: unknown = JSON.parse(candidate)
      if (value !== null && typeof value === 'object' && !Array.isArray(value)) return value as Record<string, unknown>
    } catch {
      continue
    }
  }
  return undefined
}

/** Line ends and other control characters inside strings, which JSON wants escaped. */
function escapedControls(text: string): string {
  // A string that has no end goes to the end: else each quote in it would be tried as a beginning.
  return text.replaceAll(/"(?:[^"\\]|\\.|\\$)*(?:"|$)/gs, (string) =>
    // eslint-disable-next-line no-control-regex
    string.replaceAll(/[\u0000-\u001f]/g, (one) => JSON.stringify(one).slice(1, -1)),
  )
}

/** The first complete object; what follows it is dropped. */
function firstObject(text: string): string {
  const start = text.indexOf('{')
  let depth = 0
  let quoted = false
  for (let at = Math.max(start, 0); at < text.length; at += 1) {
    const one = text[at]
    if (quoted) {
      if (one === '\\') at += 1
      else if (one === '"') quoted = false
    } else if (one === '"') quoted = true
    else if (one === '{') depth += 1
    else if (one === '}' && (depth -= 1) === 0) return text.slice(start, at + 1)
  }
  return text
}

const withoutNulls = (value: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(value).filter(([, member]) => member !== null))

/** A second try turns strings into the lists, objects, numbers or booleans that they spell, where the schema wants those. */
function check(tool: Tool, input: Record<string, unknown>) {
  const first = tool.input.safeParse(input)
  if (first.success) return first
  const mended = { ...input }
  for (const { path } of first.error.issues) {
    const key = String(path[0])
    const value = mended[key]
    if (typeof value === 'string') mended[key] = spelled(value)
  }
  const second = tool.input.safeParse(mended)
  return second.success ? second : first
}

function spelled(text: string): unknown {
  try {
    return JSON.parse(text.toLowerCase() === 'true' || text.toLowerCase() === 'false' ? text.toLowerCase() : text)
  } catch {
    return text
  }
}

/** Names what is wrong, never the values. */
const problemsOf = (error: z.ZodError): string =>
  error.issues
    .slice(0, 5)
    .map((issue) => `${issue.path.join('.') || 'arguments'}: ${issue.message}`)
    .join('; ')

function riskOf(value: unknown): Risk {
  const word = String(value ?? '').toUpperCase()
  return word.startsWith('LOW') ? 'LOW' : word.startsWith('MED') ? 'MEDIUM' : word.startsWith('HI') ? 'HIGH' : 'UNKNOWN'
}
