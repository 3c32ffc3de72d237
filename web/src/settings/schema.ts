import { z } from 'zod'

/* What a schema of the contract asks for, as controls of a form. Pure. */

export type Shape =
  | { kind: 'switch' | 'text' | 'long' | 'secret' | 'lines' | 'json' }
  | { kind: 'number'; min: number | undefined; max: number | undefined; isWhole: boolean }
  | { kind: 'choice'; values: readonly string[] }
  /** One of several kinds of thing, each with members of its own. */
  | { kind: 'variants'; variants: Readonly<Record<string, readonly Member[]>> }
  | { kind: 'members'; members: readonly Member[] }

export interface Member {
  name: string
  shape: Shape
  /** What holds while nothing is said; undefined: it depends. */
  usual: unknown
}

interface Bare {
  schema: z.ZodType
  usual: unknown
}

/** Without what says that it may be absent. */
function bare(schema: z.ZodType, usual?: unknown): Bare {
  if (schema instanceof z.ZodDefault) return bare(schema.unwrap() as z.ZodType, schema.def.defaultValue)
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable)
    return bare(schema.unwrap() as z.ZodType, usual)
  return { schema, usual }
}

const isKey = /(^|_)(api_key|access_key|access_key_id|session_token)$/
const longFrom = 10_000

export function membersOf(schema: z.ZodType): Member[] {
  const { schema: object } = bare(schema)
  if (!(object instanceof z.ZodObject)) return []
  return Object.entries(object.shape as Record<string, z.ZodType>)
    .filter(([name]) => name !== 'kind')
    .map(([name, member]) => {
      const { schema: inner, usual } = bare(member)
      return { name, shape: shapeOf(name, inner), usual }
    })
}

function shapeOf(name: string, schema: z.ZodType): Shape {
  if (schema instanceof z.ZodBoolean) return { kind: 'switch' }
  if (schema instanceof z.ZodEnum) return { kind: 'choice', values: schema.options.map(String) }
  if (schema instanceof z.ZodNumber) return numberOf(schema)
  if (schema instanceof z.ZodString) {
    if (isKey.test(name)) return { kind: 'secret' }
    return { kind: (schema.maxLength ?? 0) >= longFrom ? 'long' : 'text' }
  }
  if (schema instanceof z.ZodArray && bare(schema.element as z.ZodType).schema instanceof z.ZodString)
    return { kind: 'lines' }
  if (schema instanceof z.ZodDiscriminatedUnion) return variantsOf(schema.options as readonly z.ZodObject[])
  return schema instanceof z.ZodObject ? { kind: 'members', members: membersOf(schema) } : { kind: 'json' }
}

function numberOf(schema: z.ZodNumber): Shape {
  // The library says the bounds of its own numbers for a number without any.
  const bound = (value: number | null) =>
    value === null || Math.abs(value) >= Number.MAX_SAFE_INTEGER ? undefined : value
  return { kind: 'number', min: bound(schema.minValue), max: bound(schema.maxValue), isWhole: schema.isInt }
}

const variantsOf = (options: readonly z.ZodObject[]): Shape => ({
  kind: 'variants',
  variants: Object.fromEntries(
    options.map((option) => [(option.shape['kind'] as z.ZodLiteral<string>).value, membersOf(option)]),
  ),
})

export type Path = readonly string[]
type Values = Readonly<Record<string, unknown>>

const isValues = (value: unknown): value is Values =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export const valueAt = (values: unknown, path: Path): unknown =>
  path.reduce((value: unknown, name) => (isValues(value) ? value[name] : undefined), values)

/** With another value at this place; undefined takes it away, and what is empty then goes with it. */
export function withValue(values: unknown, [name, ...rest]: Path, value: unknown): Values | undefined {
  const before = isValues(values) ? values : {}
  if (name === undefined) return before
  const next = rest.length === 0 ? value : withValue(before[name], rest, value)
  const { [name]: _, ...others } = before
  const after = next === undefined ? others : { ...before, [name]: next }
  return Object.keys(after).length === 0 ? undefined : after
}
