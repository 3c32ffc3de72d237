import type { SchemaObject } from 'ajv'

/** The parts of an OpenAPI 3.1 document that the fuzzer reads. */

export interface Parameter {
  name: string
  in: 'path' | 'query' | 'header'
  required: boolean
  schema: SchemaObject
}

export interface Operation {
  operationId: string
  method: string
  path: string
  parameters: Parameter[]
  /** Of a JSON body; undefined when there is none. */
  body: SchemaObject | undefined
  /** Of a body; undefined when the document has none. */
  example: unknown
  responses: Record<string, SchemaObject | undefined>
  /** False for streams, sockets and downloads: their answers are not JSON. */
  json: boolean
}

interface Content {
  content?: Record<string, { schema?: SchemaObject; example?: unknown }>
}

interface Raw extends Omit<Operation, 'responses' | 'body' | 'json' | 'example'> {
  requestBody?: Content
  responses: Record<string, Content>
}

export interface Document {
  paths: Record<string, Record<string, Raw>>
  components: { schemas: Record<string, SchemaObject> }
}

export function operations(document: Document): Operation[] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, raw]) => {
      const responses = Object.fromEntries(
        Object.entries(raw.responses).map(([status, answer]) => [status, jsonSchema(answer)]),
      )
      const success = Object.entries(raw.responses).find(([status]) => status.startsWith('2'))?.[1]
      return {
        operationId: raw.operationId,
        method: method.toUpperCase(),
        path,
        parameters: (raw.parameters ?? []).filter((one) => one.in !== 'header'),
        body: raw.requestBody === undefined ? undefined : jsonSchema(raw.requestBody),
        example: raw.requestBody?.content?.['application/json']?.example,
        responses,
        json: jsonSchema(success ?? {}) !== undefined,
      }
    }),
  )
}

const jsonSchema = ({ content }: Content): SchemaObject | undefined =>
  content?.['application/json']?.schema ?? content?.['application/problem+json']?.schema
