import type { AnyEndpoint } from '@parley/contract/endpoint'
import { ProblemBody, type ProblemCode, problems } from '@parley/contract/problems'
import { z } from 'zod'
import { mediaTypes } from './answer.ts'

/*
 * The endpoints as an OpenAPI 3.1 document. Schemas with an `id` become components: under their id as we answer them, with
 * `Input` behind it where what we accept differs. The same endpoints give the same bytes.
 */

export interface OpenApiOptions {
  title: string
  version: string
  description?: string
  /** Base URLs; `/` unless said. */
  servers?: string[]
  endpoints: readonly AnyEndpoint[]
}

type Json = Record<string, unknown>

const prefix = '#/components/schemas/'

/** An OpenAPI 3.1 document as a value; `JSON.stringify` of it is deterministic. */
export function openapi({ title, version, description, servers = ['/'], endpoints }: OpenApiOptions): Json {
  const schemas = componentSchemas()
  const paths: Record<string, Json> = {}
  const sorted = [...endpoints].sort((a, b) => order(a.path, b.path) || order(a.method, b.method))
  for (const endpoint of sorted) {
    const path = (paths[endpoint.path] ??= {})
    path[endpoint.method.toLowerCase()] = operation(endpoint, schemas)
  }
  schemas.output(ProblemBody)
  return {
    openapi: '3.1.0',
    info: { title, version, ...(description === undefined ? {} : { description }) },
    servers: servers.map((url) => ({ url })),
    tags: [...new Set(sorted.map(tagOf))].sort(order).map((name) => ({ name })),
    paths,
    components: {
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', description: 'An API key.' },
        accessToken: { type: 'apiKey', in: 'header', name: 'X-Access-Token', description: 'An API key.' },
        sessionKey: {
          type: 'apiKey',
          in: 'header',
          name: 'X-Session-API-Key',
          description: 'The session key of a sandbox, or an API key.',
        },
      },
      schemas: schemas.components(),
    },
  }
}

const order = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)

type Schemas = ReturnType<typeof componentSchemas>

/** Turns schemas into JSON Schema and gathers those with an id. */
function componentSchemas() {
  const found = new Map<string, { input?: Json; output?: Json }>()

  function convert(schema: z.ZodType, io: 'input' | 'output'): Json {
    const json = z.toJSONSchema(schema, {
      io,
      unrepresentable: 'any',
      target: 'draft-2020-12',
      reused: 'inline',
    }) as Json
    delete json.$schema
    const defs = (json.$defs ?? {}) as Record<string, Json>
    delete json.$defs
    for (const [id, def] of Object.entries(defs)) keep(id, io, def)
    const id = typeof json.id === 'string' ? json.id : undefined
    if (id === undefined) return json
    keep(id, io, json)
    return { $ref: `#/$defs/${id}` }
  }

  function keep(id: string, io: 'input' | 'output', json: Json): void {
    const { id: _, ...rest } = json
    found.set(id, { ...found.get(id), [io]: rest })
  }

  /** Ids whose input form differs from the output form: they need two components. */
  function twofold(): Set<string> {
    const differing = [...found].filter(([, { input, output }]) => input && output && !isSame(input, output))
    const ids = new Set(differing.map(([id]) => id))
    // What refers to a component of two forms has two forms itself.
    for (let size = -1; size !== ids.size;) {
      size = ids.size
      for (const [id, { input, output }] of found) {
        if (input && output && refs(input).some((ref) => ids.has(ref))) ids.add(id)
      }
    }
    return ids
  }

  const pending: { io: 'input' | 'output'; place: Json }[] = []
  function placed(schema: z.ZodType, io: 'input' | 'output'): Json {
    const place = convert(schema, io)
    pending.push({ io, place })
    return place
  }

  return {
    input: (schema: z.ZodType) => placed(schema, 'input'),
    output: (schema: z.ZodType) => placed(schema, 'output'),
    /** Names all references, in every schema given out so far, and gives the components in the order of their names. */
    components(): Record<string, Json> {
      const two = twofold()
      for (const { io, place } of pending) rename(place, io, two)
      const entries: [string, Json][] = []
      for (const [id, { input, output }] of found) {
        if (output) entries.push([id, rename(structuredClone(output), 'output', two)])
        if (input && (two.has(id) || !output)) {
          entries.push([two.has(id) ? `${id}Input` : id, rename(structuredClone(input), 'input', two)])
        }
      }
      return Object.fromEntries(entries.sort(([a], [b]) => order(a, b)))
    },
  }
}

const isSame = (a: Json, b: Json) => JSON.stringify(a) === JSON.stringify(b)

function walk(value: unknown, visit: (node: Json) => void): void {
  if (typeof value !== 'object' || value === null) return
  if (!Array.isArray(value)) visit(value as Json)
  for (const member of Object.values(value)) walk(member, visit)
}

const refId = (ref: unknown) => (typeof ref === 'string' ? /^#\/\$defs\/(.+)$/.exec(ref)?.[1] : undefined)

function refs(json: Json): string[] {
  const ids: string[] = []
  walk(json, ({ $ref }) => {
    const id = refId($ref)
    if (id !== undefined) ids.push(id)
  })
  return ids
}

function rename(json: Json, io: 'input' | 'output', two: Set<string>): Json {
  walk(json, (node) => {
    const id = refId(node.$ref)
    if (id !== undefined) node.$ref = `${prefix}${io === 'input' && two.has(id) ? `${id}Input` : id}`
  })
  return json
}

/** `get_api_v1_secrets_by_id` of `GET /api/v1/secrets/{id}`: follows from the address alone, so it never changes. */
const operationId = ({ method, path }: AnyEndpoint) =>
  `${method.toLowerCase()}${path.replaceAll(/\{(\w+)\}/g, 'by_$1').replaceAll(/[^\w]+/g, '_')}`

const tagOf = ({ path }: AnyEndpoint) =>
  path
    .replace(/^\/api\/(v\d+\/)?/, '')
    .replace(/^\//, '')
    .split('/', 1)[0] ?? ''

function operation(endpoint: AnyEndpoint, schemas: Schemas): Json {
  const parameters = [
    ...parametersOf(endpoint.params, 'path', schemas),
    ...parametersOf(endpoint.query, 'query', schemas),
    ...(endpoint.method === 'POST' || endpoint.method === 'DELETE' ? [idempotencyHeader] : []),
  ]
  return {
    operationId: operationId(endpoint),
    tags: [tagOf(endpoint)],
    summary: endpoint.summary,
    description: endpoint.description,
    ...(endpoint.deprecated ? { deprecated: true } : {}),
    ...(endpoint.access === 'open' ? { security: [] } : { security: security(endpoint), 'x-scope': endpoint.access }),
    ...(parameters.length > 0 ? { parameters } : {}),
    ...requestBody(endpoint, schemas),
    responses: { [endpoint.status]: success(endpoint, schemas), ...failures(endpoint) },
  }
}

const idempotencyHeader = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description: 'Makes the call safe to repeat: the same key gives the same answer for 24 hours.',
  schema: { type: 'string', minLength: 1, maxLength: 255 },
}

const security = ({ access }: AnyEndpoint) => [
  { bearer: [] },
  { accessToken: [] },
  ...(access === 'sandbox' ? [{ sessionKey: [] }] : []),
]

function parametersOf(schema: z.ZodType, where: 'path' | 'query', schemas: Schemas): Json[] {
  const { properties = {}, required = [] } = schemas.input(schema) as {
    properties?: Record<string, Json>
    required?: string[]
  }
  return Object.entries(properties).map(([name, property]) => {
    const { description } = property
    // The very object, since references in it are named later.
    delete property['description']
    return {
      name,
      in: where,
      required: where === 'path' || required.includes(name),
      ...(description === undefined ? {} : { description }),
      schema: property,
    }
  })
}

function requestBody(endpoint: AnyEndpoint, schemas: Schemas): Json {
  if (endpoint.accepts === 'none') return {}
  if (endpoint.accepts !== 'json') {
    const type = endpoint.accepts === 'multipart' ? 'multipart/form-data' : 'application/octet-stream'
    return { requestBody: { required: true, content: { [type]: { schema: {} } } } }
  }
  const example = endpoint.example.body === undefined ? {} : { example: endpoint.example.body }
  const content = { 'application/json': { schema: schemas.input(endpoint.body), ...example } }
  return { requestBody: { required: !endpoint.body.safeParse(undefined).success, content } }
}

function success(endpoint: AnyEndpoint, schemas: Schemas): Json {
  const description = endpoint.summary
  if (endpoint.answer === 'socket') return { description: `${description} The connection is upgraded to a WebSocket.` }
  if (endpoint.answer === 'bytes') return { description, content: { '*/*': { schema: {} } } }
  if (endpoint.answer === 'html') return { description, content: { 'text/html': { schema: { type: 'string' } } } }
  if (endpoint.returns instanceof z.ZodUndefined) return { description }
  const one = schemas.output(endpoint.returns)
  const schema = endpoint.answer === 'json-array' ? { type: 'array', items: one } : one
  const { returns } = endpoint.example
  const example = returns === undefined ? {} : { example: endpoint.answer === 'json-array' ? [returns] : returns }
  return { description, content: { [mediaTypes[endpoint.answer] ?? 'application/json']: { schema, ...example } } }
}

/** What can go wrong everywhere, by what the endpoint has, and what it says itself. */
function codesOf(endpoint: AnyEndpoint): ProblemCode[] {
  const codes = new Set<ProblemCode>(['malformed_request', 'internal_error', 'unavailable', ...endpoint.fails])
  if (endpoint.access !== 'open') for (const code of keyCodes) codes.add(code)
  if (endpoint.accepts === 'json') for (const code of bodyCodes) codes.add(code)
  if (endpoint.path.includes('{')) codes.add('malformed_id').add('not_found')
  codes.add('validation_error')
  return [...codes]
}

const keyCodes = ['authentication_error', 'ambiguous_credentials', 'insufficient_scope', 'quota_exceeded'] as const
const bodyCodes = ['payload_too_large', 'unsupported_media_type'] as const

function failures(endpoint: AnyEndpoint): Json {
  const byStatus = new Map<number, ProblemCode[]>()
  for (const code of codesOf(endpoint).sort(order)) {
    const [status] = problems[code]
    byStatus.set(status, [...(byStatus.get(status) ?? []), code])
  }
  const content = { 'application/problem+json': { schema: { $ref: `${prefix}Problem` } } }
  return Object.fromEntries(
    [...byStatus]
      .sort(([a], [b]) => a - b)
      .map(([status, codes]) => [
        status,
        { description: codes.map((code) => `\`${code}\`: ${problems[code][1]}`).join('\n\n'), content },
      ]),
  )
}
