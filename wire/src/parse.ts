import type { IncomingHttpHeaders } from 'node:http'
import type { AnyEndpoint } from '@parley/contract/endpoint'
import { pointerTo, Problem, type ProblemError } from '@parley/contract/problems'
import { z } from 'zod'
import { isText, readJson } from './json.ts'

/*
 * From what arrives to what the schemas promise. Everything that depends on the schemas alone is worked out once, when the
 * endpoint is bound.
 */

type Part = 'path' | 'query' | 'body'
const mostErrors = 50

export interface Parser {
  params(raw: unknown): unknown
  query(raw: Record<string, unknown>): unknown
  /** `bytes` undefined: no body came. */
  body(bytes: Buffer | undefined, headers: IncomingHttpHeaders): { body: unknown; ignored: string[] }
}

export function parser(endpoint: AnyEndpoint): Parser {
  const lists = listFields(endpoint.query)
  const known = endpoint.accepts === 'json' ? membersOf(endpoint.body) : undefined
  const bodyOptional = endpoint.accepts !== 'json' || endpoint.body.safeParse(undefined).success
  return {
    params: (raw) => checked(endpoint.params, checkTexts(raw), 'path'),
    query: (raw) => checked(endpoint.query, gatherLists(checkTexts(raw), lists), 'query'),
    body(bytes, headers) {
      if (endpoint.accepts !== 'json') return { body: undefined, ignored: [] }
      if (bytes === undefined || bytes.length === 0) {
        if (!bodyOptional) throw new Problem('malformed_request', 'The request needs a body.')
        return { body: checked(endpoint.body, undefined, 'body'), ignored: [] }
      }
      checkJsonType(headers)
      const { value, ignored } = known
        ? withoutUnknown(readJson(bytes), known)
        : { value: readJson(bytes), ignored: [] }
      if (ignored.length > 0 && !endpoint.lenient) throw unknownMembers(ignored)
      return { body: checked(endpoint.body, value, 'body'), ignored }
    },
  }
}

function checked(schema: z.ZodType, value: unknown, part: Part): unknown {
  const result = schema.safeParse(value)
  if (result.success) return result.data
  throw problemOf(result.error.issues, part)
}

const isIdName = (name: PropertyKey | undefined) => typeof name === 'string' && /(^|_)ids?$/.test(name)

function problemOf(issues: readonly z.core.$ZodIssue[], part: Part): Problem {
  if (part !== 'body') {
    const malformed = issues.find(
      (issue) =>
        (issue.code === 'custom' && issue.params?.malformed_id === true) ||
        (part === 'path' && isIdName(issue.path[0])) ||
        (issue.path[0] === 'ids' && issue.path.length > 1),
    )
    if (malformed) return new Problem('malformed_id', undefined, { errors: [errorOf(malformed, part)] })
    const tooMany = issues.find((issue) => issue.code === 'too_big' && issue.path[0] === 'ids')
    if (tooMany) return new Problem('too_many_ids', undefined, { errors: [errorOf(tooMany, part)] })
  }
  const errors = issues.slice(0, mostErrors).map((issue) => errorOf(issue, part))
  return new Problem('validation_error', undefined, { errors })
}

const step = (key: PropertyKey) => (typeof key === 'number' ? key : String(key).slice(0, 64))

function errorOf(issue: z.core.$ZodIssue, part: Part): ProblemError {
  const path = issue.path.map(step)
  return { pointer: pointerTo(path), loc: [part, ...path], msg: issue.message, type: issue.code }
}

function unknownMembers(names: string[]): Problem {
  const errors = names.slice(0, mostErrors).map((name) => ({
    pointer: pointerTo([step(name)]),
    loc: ['body', step(name)],
    msg: 'There is no such field.',
    type: 'unrecognized_keys',
  }))
  return new Problem('validation_error', undefined, { errors })
}

function checkJsonType(headers: IncomingHttpHeaders): void {
  const [type = '', ...parameters] = (headers['content-type'] ?? '').split(';')
  const isJson = /^application\/(?:[\w.+-]+\+)?json$/i.test(type.trim())
  const charset = parameters.map((text) => /^\s*charset\s*=\s*"?([^"\s]+)"?\s*$/i.exec(text)?.[1]).find(Boolean)
  if (!isJson) throw new Problem('unsupported_media_type', 'The body must be application/json.')
  if (charset && !/^utf-?8$/i.test(charset)) throw new Problem('unsupported_media_type', 'The body must be UTF-8.')
}

function checkTexts<T>(raw: T): T {
  for (const value of Object.values(raw as object)) {
    if (typeof value === 'string' ? !isText(value) : Array.isArray(value) && !value.every(isText)) {
      throw new Problem('malformed_request', 'The address has a NUL.')
    }
  }
  return raw
}

/** The fields of a query that are lists. */
function listFields(query: z.ZodType): Set<string> {
  const shape = query instanceof z.ZodObject ? (query.shape as Record<string, z.ZodType>) : {}
  return new Set(Object.keys(shape).filter((name) => shape[name] && core(shape[name]) instanceof z.ZodArray))
}

/** `name=a&name=b` and `name=a,b` as one list; `id` is another name of `ids`. */
function gatherLists(raw: Record<string, unknown>, lists: Set<string>): Record<string, unknown> {
  if (lists.size === 0) return raw
  const query = { ...raw }
  for (const name of lists) {
    const given = name === 'ids' ? [raw.ids, raw.id] : [raw[name]]
    const values = given.flat().filter((value) => value !== undefined)
    if (values.length > 0) query[name] = values.flatMap((value) => String(value).split(','))
  }
  return query
}

/** The schema inside optional, nullable, default, catch and pipes (their input side). */
function core(schema: z.core.$ZodType): z.core.$ZodType {
  if (schema instanceof z.ZodPipe) return core(schema.in)
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable || schema instanceof z.ZodDefault) {
    return core(schema.unwrap() as z.core.$ZodType)
  }
  if (schema instanceof z.ZodPrefault || schema instanceof z.ZodCatch) return core(schema.unwrap() as z.core.$ZodType)
  return schema
}

/** The members that a body may have; undefined when it may have any, or is no object. */
function membersOf(schema: z.core.$ZodType): Set<string> | undefined {
  const inner = core(schema)
  if (inner instanceof z.ZodObject) {
    const rest = inner.def.catchall
    return rest === undefined || rest instanceof z.ZodNever ? new Set(Object.keys(inner.shape)) : undefined
  }
  const parts = inner instanceof z.ZodUnion ? inner.options : []
  const sets = parts.map((part) => membersOf(part as z.core.$ZodType))
  if (sets.length === 0 || sets.includes(undefined)) return undefined
  return new Set(sets.flatMap((set) => [...(set ?? [])]))
}

function withoutUnknown(value: unknown, known: Set<string>): { value: unknown; ignored: string[] } {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return { value, ignored: [] }
  const ignored = Object.keys(value).filter((name) => !known.has(name))
  if (ignored.length === 0) return { value, ignored }
  return { value: Object.fromEntries(Object.entries(value).filter(([name]) => known.has(name))), ignored }
}

/** Value of `X-Ignored-Fields`: names that could break a header are percent-encoded; at most 50. */
export const ignoredHeader = (names: string[]) =>
  names
    .slice(0, mostErrors)
    .map((name) => encodeURIComponent(name.slice(0, 64).toWellFormed()))
    .join(', ')
