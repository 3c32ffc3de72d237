/** Fields of a JSON schema in words, for people. */

interface Schema {
  $ref?: string
  type?: string | string[]
  anyOf?: Schema[]
  oneOf?: Schema[]
  allOf?: Schema[]
  items?: Schema
  enum?: unknown[]
  const?: unknown
  format?: string
  description?: string
  default?: unknown
  minimum?: number
  maximum?: number
  maxLength?: number
  properties?: Record<string, Schema>
  additionalProperties?: Schema | boolean
  required?: string[]
}

export interface Field {
  name: string
  type: string
  required: boolean
  note: string
}

export type Components = Record<string, unknown>

const nameOf = (ref: string): string => ref.slice(ref.lastIndexOf('/') + 1)

/** The schema itself, behind a reference. */
function resolved(schema: Schema, components: Components): Schema {
  return schema.$ref === undefined ? schema : (components[nameOf(schema.$ref)] as Schema)
}

function typeOf(schema: Schema): string {
  if (schema.$ref !== undefined) return nameOf(schema.$ref)
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  if (schema.enum !== undefined) return schema.enum.map((value) => JSON.stringify(value)).join(' | ')
  const parts = schema.anyOf ?? schema.oneOf ?? schema.allOf
  if (parts !== undefined) return [...new Set(parts.map(typeOf))].join(' | ')
  if (schema.type === 'array') return `list of ${schema.items === undefined ? 'anything' : typeOf(schema.items)}`
  if (schema.type === 'object' && typeof schema.additionalProperties === 'object')
    return `map of ${typeOf(schema.additionalProperties)}`
  return [schema.type ?? 'anything'].flat().join(' | ')
}

/** Its own words, or those of what it refers to. */
function wordsOf(schema: Schema, components: Components): string | undefined {
  const parts = [
    resolved(schema, components),
    ...(schema.anyOf ?? schema.oneOf ?? []).map((one) => resolved(one, components)),
  ]
  return schema.description ?? parts.find(({ description }) => description !== undefined)?.description
}

function noteOf(schema: Schema, components: Components): string {
  const { minimum, maximum, maxLength } = schema
  const whole = (value: number) => Number.isSafeInteger(value) && Math.abs(value) < Number.MAX_SAFE_INTEGER
  return [
    wordsOf(schema, components),
    schema.default === undefined || schema.default === null ? undefined : `Default: ${JSON.stringify(schema.default)}.`,
    minimum !== undefined && whole(minimum) ? `At least ${minimum}.` : undefined,
    maximum !== undefined && whole(maximum) ? `At most ${maximum}.` : undefined,
    maxLength === undefined ? undefined : `At most ${maxLength} characters.`,
  ]
    .filter((text) => text !== undefined)
    .join(' ')
}

/** The members of an object; none when it is no object. */
export function fieldsOf(schema: unknown, components: Components): Field[] {
  const { properties = {}, required = [] } = resolved((schema ?? {}) as Schema, components)
  return Object.entries(properties).map(([name, property]) => ({
    name,
    type: typeOf(property),
    required: required.includes(name),
    note: noteOf(property, components),
  }))
}

/** A field that stands in the path or the query. */
export const parameterField = ({ name, schema, required, description }: Parameter, components: Components): Field => ({
  name,
  type: typeOf(schema),
  required,
  note: noteOf({ ...schema, ...(description === undefined ? {} : { description }) }, components),
})

export interface Parameter {
  name: string
  in: 'path' | 'query' | 'header'
  required: boolean
  description?: string
  schema: Schema
}

/** What is answered, in one line. */
export const typeText = (schema: unknown): string => typeOf((schema ?? {}) as Schema)
