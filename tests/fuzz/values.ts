import type { SchemaObject } from 'ajv'
import fc from 'fast-check'

/*
 * Values for a JSON schema: mostly ones that fit, and ones that are off in the ways that break servers. Ids that the service
 * has given out are mixed in, so that requests meet things that exist, existed, or belong to somebody else.
 */

export interface Pool {
  ids: string[]
  /** Whether values may be off. */
  wild: boolean
  schemas: Record<string, SchemaObject>
}

const nasty = fc.constantFrom<unknown>(
  null,
  '',
  ' ',
  '\u0000',
  '\ud800',
  '\u202e',
  "'; drop table event; --",
  '../../etc/passwd',
  '%2e%2e%2f',
  '__proto__',
  -1,
  0,
  1e308,
  2 ** 53 + 1,
  true,
  [],
  {},
  [[]],
  'x'.repeat(5_000),
)

/** In a wild request one in eight is off, at every depth. */
export const arbitrary = (schema: SchemaObject, pool: Pool, depth = 0): fc.Arbitrary<unknown> =>
  pool.wild
    ? fc.oneof({ weight: 7, arbitrary: fitting(schema, pool, depth) }, { weight: 1, arbitrary: nasty })
    : fitting(schema, pool, depth)

function fitting(schema: SchemaObject, pool: Pool, depth: number): fc.Arbitrary<unknown> {
  const reference = schema['$ref'] as string | undefined
  if (reference !== undefined) {
    const target = pool.schemas[reference.replace('#/components/schemas/', '')]
    return target === undefined || depth > 4 ? fc.constant(null) : arbitrary(target, pool, depth + 1)
  }
  if ('const' in schema) return fc.constant(schema['const'])
  const choices = (schema['anyOf'] ?? schema['oneOf']) as SchemaObject[] | undefined
  if (choices !== undefined) return fc.oneof(...choices.map((one) => arbitrary(one, pool, depth + 1)))
  const all = schema['allOf'] as SchemaObject[] | undefined
  if (all?.[0] !== undefined) return arbitrary(all[0], pool, depth)
  if (Array.isArray(schema['enum'])) return fc.constantFrom(...(schema['enum'] as unknown[]))
  return ofType(schema, pool, depth)
}

function ofType(schema: SchemaObject, pool: Pool, depth: number): fc.Arbitrary<unknown> {
  switch (schema['type']) {
    case 'object':
      return object(schema, pool, depth)
    case 'array': {
      const items = (schema['items'] ?? {}) as SchemaObject
      return fc.array(arbitrary(items, pool, depth + 1), { maxLength: depth > 3 ? 0 : 3 })
    }
    case 'integer':
      return fc.integer({ min: Number(schema['minimum'] ?? -5), max: Number(schema['maximum'] ?? 500) })
    case 'number':
      return fc.double({ min: Number(schema['minimum'] ?? 0), max: Number(schema['maximum'] ?? 100), noNaN: true })
    case 'boolean':
      return fc.boolean()
    case 'null':
      return fc.constant(null)
    case 'string':
      return text(schema, pool)
    default:
      return fc.jsonValue({ maxDepth: 2 })
  }
}

function text(schema: SchemaObject, pool: Pool): fc.Arbitrary<unknown> {
  const id = fc.oneof(fc.constantFrom(...pool.ids), fc.uuid())
  const times = fc.constantFrom('2026-11-21T07:13:05.120Z', '2026-02-28T00:00:00', '2020-01-01T00:00:00+02:00')
  if (schema['format'] === 'uuid' || /uuid/i.test(String(schema['description'] ?? ''))) return id
  if (/time/i.test(String(schema['format'] ?? schema['description'] ?? ''))) return times
  const max = Math.min(Number(schema['maxLength'] ?? 40), 40)
  const words = fc.constantFrom(
    'main',
    'ada/engine',
    'NAME_OF_IT',
    'https://example.com/x',
    'ada@example.com',
    'parley/demo',
    'open_forge',
  )
  return fc.oneof(
    { weight: 3, arbitrary: words },
    { weight: 2, arbitrary: fc.string({ maxLength: max }) },
    { weight: 1, arbitrary: id },
  )
}

function object(schema: SchemaObject, pool: Pool, depth: number): fc.Arbitrary<unknown> {
  const properties = (schema['properties'] ?? {}) as Record<string, SchemaObject>
  const required = new Set((schema['required'] ?? []) as string[])
  if (depth > 5) return fc.constant({})
  const fields = Object.fromEntries(
    Object.entries(properties).map(([name, one]) => [name, arbitrary(one, pool, depth + 1)]),
  )
  return fc.record(fields, { requiredKeys: [...required].filter((name) => name in fields) })
}
