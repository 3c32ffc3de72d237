import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { test } from 'node:test'
import spectral, { type RulesetDefinition } from '@stoplight/spectral-core'
import rulesets from '@stoplight/spectral-rulesets'

const file = resolve(import.meta.dirname, '../../docs/openapi/v1.json')

test('the published document has no error that a linter of OpenAPI documents finds', async () => {
  const linter = new spectral.Spectral()
  // The two packages say the same in types that differ by optional members.
  linter.setRuleset({ extends: [rulesets.oas as RulesetDefinition] })
  const found = await linter.run(readFileSync(file, 'utf8'))
  const errors = found.filter(({ severity }) => severity === 0)
  assert.deepEqual(
    errors.map(({ message, path }) => `${path.join('.')}: ${message}`),
    [],
  )
})

interface Schema {
  $ref?: string
  description?: string
  properties?: Record<string, Schema>
  anyOf?: Schema[]
  oneOf?: Schema[]
}
interface Parameter {
  name: string
  description?: string
  schema: Schema
}
interface Document {
  components: { schemas: Record<string, Schema> }
  paths: Record<string, Record<string, { operationId: string; parameters?: Parameter[] }>>
}

test('every field that a client sends or reads, and every parameter, says what it is', () => {
  const { components, paths } = JSON.parse(readFileSync(file, 'utf8')) as Document
  const isDescribed = ({ description, $ref, anyOf = [], oneOf = [] }: Schema): boolean =>
    (description ?? '') !== '' ||
    // A reference to what says of itself what it is.
    (components.schemas[$ref?.split('/').at(-1) ?? '']?.description ?? '') !== '' ||
    [...anyOf, ...oneOf].some(isDescribed)
  let count = 0
  const silent: string[] = []
  const check = (name: string, one: Schema) => {
    count += 1
    if (!isDescribed(one)) silent.push(name)
  }
  const walk = (value: unknown, way: string): void => {
    if (typeof value !== 'object' || value === null) return
    const { properties } = value as Schema
    for (const [name, field] of Object.entries(properties ?? {})) check(`${way}.${name}`, field)
    for (const [name, inner] of Object.entries(value)) if (!isData(name)) walk(inner, `${way}.${name}`)
  }
  // What is in them only looks like a schema.
  const isData = (name: string) => name === 'example' || name === 'default' || name === 'enum'
  walk(components.schemas, 'schemas')
  walk(paths, 'paths')
  for (const operation of Object.values(paths).flatMap((path) => Object.values(path)))
    for (const parameter of operation.parameters ?? [])
      check(`${operation.operationId} ${parameter.name}`, { ...parameter.schema, ...wordsOf(parameter) })
  assert.ok(count > 1_000, `${count} were looked at`)
  assert.deepEqual(silent, [])
})

const wordsOf = ({ description }: Parameter) => (description === undefined ? {} : { description })
