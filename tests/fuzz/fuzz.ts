import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { api } from '@parley/contract/api'
import addFormats from 'ajv-formats'
import { Ajv2020 } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import { makeKey } from '../../server/src/access/key-format.ts'
import { openTestServer, type TestServer } from '../../server/src/testing.ts'
import { type Document, type Operation, operations } from './document.ts'
import { arbitrary, type Pool } from './values.ts'

/*
 * Requests that nobody would send, from the published document: no answer may be a 5xx, take long, or be other than the
 * document says. Ids from answers go back into requests, of their owner and of a stranger, before and after what they name
 * is deleted.
 */

export interface Report {
  seed: number
  requests: number
  byStatus: Record<string, number>
  failures: string[]
}

const document = JSON.parse(
  readFileSync(resolve(import.meta.dirname, '../../docs/openapi/v1.json'), 'utf8'),
) as Document
const mostIds = 300
const longestMs = 5_000

export async function fuzz({ requests, seed }: { requests: number; seed: number }): Promise<Report> {
  await using server = await openTestServer({ env: { PARLEY_LIMITS: limitsFile } })
  const people = [await caller(server, 'ada'), await caller(server, 'eve')]
  const pool: Pool = {
    ids: ['019a0000-0000-7000-8000-000000000000'],
    wild: false,
    schemas: document.components.schemas,
  }
  const judge = judging()
  const report: Report = { seed, requests: 0, byStatus: {}, failures: [] }
  // Streams and long work are other tests' business; here they would only wait.
  const all = operations(document).filter((one) => one.json && !waits.test(one.path))
  const choose = fc.record({ operation: fc.constantFrom(...all), person: fc.constantFrom(...people) })
  for (let n = 0; n < requests; n += 1) {
    const [{ operation, person } = {}] = fc.sample(choose, { seed: seed + n, numRuns: 1 })
    if (operation === undefined || person === undefined) break
    pool.wild = n % 2 === 1
    const [request] = fc.sample(requestOf(operation, pool), { seed: seed + n, numRuns: 1 })
    if (request === undefined) continue
    const refusals = report.byStatus[401] ?? 0
    const wrong = await send(server.url, person.key, operation, request, judge, pool, report)
    // Keys are deleted and rotated as anything else is; who has lost theirs gets another.
    if ((report.byStatus[401] ?? 0) > refusals) await person.renew()
    report.requests += 1
    if (wrong !== undefined) report.failures.push(`#${n} ${operation.method} ${request.url}: ${wrong}`)
  }
  return report
}

async function caller(server: TestServer, name: string) {
  const { id } = await (await server.as(name))(api.users.me)
  const person = {
    key: await server.keyOf(name),
    async renew() {
      person.key = makeKey('prl')
      await server.server.access.ensureKey(id, person.key, name)
    },
  }
  return person
}

const waits = /stream|socket|interrupt|\/resume|invitations\/accept|sso/
const limitsFile = resolve(import.meta.dirname, 'limits.yaml')

export interface Request {
  url: string
  body: string | undefined
}

export function requestOf(operation: Operation, pool: Pool): fc.Arbitrary<Request> {
  const parameters = fc.tuple(
    ...operation.parameters.map((one) =>
      one.in === 'path' || one.required
        ? arbitrary(one.schema, pool)
        : fc.option(arbitrary(one.schema, pool), { nil: undefined, freq: 2 }),
    ),
  )
  const made = operation.body === undefined ? fc.constant(undefined) : arbitrary(operation.body, pool)
  const body = operation.example === undefined || pool.wild ? made : fc.oneof(fc.constant(operation.example), made)
  return fc.tuple(parameters, body).map(([values, sent]) => {
    let path = operation.path
    const query = new URLSearchParams()
    operation.parameters.forEach((one, index) => {
      const value = values[index]
      if (one.in === 'path') path = path.replace(`{${one.name}}`, segment(plain(value)))
      else if (value !== undefined)
        for (const item of Array.isArray(value) ? value : [value]) query.append(one.name, plain(item))
    })
    const asked = query.toString()
    return {
      url: asked === '' ? path : `${path}?${asked}`.slice(0, 8_000),
      body: sent === undefined ? undefined : JSON.stringify(sent),
    }
  })
}

/** A client folds an empty segment or one of dots away before it sends a request, which would then be one of another operation. */
const segment = (value: string) =>
  /^\.{0,2}$/.test(value) ? 'x' : encodeURIComponent(value.slice(0, 300).toWellFormed())

const plain = (value: unknown): string =>
  (typeof value === 'string' ? value : (JSON.stringify(value) ?? '')).toWellFormed()

type Judge = (operation: Operation, status: number, answer: unknown) => string | undefined

async function send(
  base: string,
  key: string,
  operation: Operation,
  request: Request,
  judge: Judge,
  pool: Pool,
  report: Report,
) {
  const headers: Record<string, string> = { authorization: `Bearer ${key}` }
  if (request.body !== undefined) headers['content-type'] = 'application/json'
  const init: RequestInit = { method: operation.method, headers, signal: AbortSignal.timeout(longestMs) }
  if (request.body !== undefined) init.body = request.body
  try {
    const response = await fetch(`${base}${request.url}`, init)
    const text = await response.text()
    report.byStatus[response.status] = (report.byStatus[response.status] ?? 0) + 1
    // A forge that does not exist is not ours to mend, and a limit that is reached is an answer.
    const outside = response.status === 502 || response.status === 504
    const full = response.status === 503 && text.includes('"code":"capacity"')
    if (response.status >= 500 && !outside && !full)
      return `${response.status} ${text.slice(0, 300)} for ${request.body?.slice(0, 300)}`
    const answer: unknown = text === '' ? undefined : JSON.parse(text)
    if (response.ok) learn(pool, answer)
    return judge(operation, response.status, answer)
  } catch (error) {
    return `${String(error)} for ${request.body?.slice(0, 300)}`
  }
}

/** Ids that were given out. The oldest are forgotten; some of them name what is deleted by now, which is the point. */
function learn(pool: Pool, answer: unknown): void {
  const found =
    JSON.stringify(answer ?? null).match(/[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/g) ?? []
  pool.ids.push(...found.filter((id) => !pool.ids.includes(id)))
  if (pool.ids.length > mostIds) pool.ids.splice(0, pool.ids.length - mostIds)
}

function judging(): Judge {
  const ajv = new Ajv2020({ strict: false, allErrors: false })
  addFormats.default(ajv)
  ajv.addSchema({ $id: 'api', components: document.components })
  const compiled = new Map<string, ReturnType<typeof ajv.compile>>()
  return ({ operationId, responses }, status, answer) => {
    if (!(status in responses))
      return `the status ${status} is not in the document: ${JSON.stringify(answer).slice(0, 200)}`
    const schema = responses[status]
    if (schema === undefined) return undefined
    const name = `${operationId} ${status}`
    const text = JSON.stringify(schema).replaceAll('"#/components/', '"api#/components/')
    const validate = compiled.get(name) ?? ajv.compile(JSON.parse(text) as object)
    compiled.set(name, validate)
    return validate(answer) ? undefined : `the answer is not as promised: ${ajv.errorsText(validate.errors)}`
  }
}

/** `npm run fuzz -- [requests] [seed]`. */
if (import.meta.main) {
  const [requests = 5_000, seed = Date.now() % 1_000_000] = process.argv.slice(2).map(Number)
  const report = await fuzz({ requests, seed })
  process.stdout.write(`${JSON.stringify({ ...report, failures: report.failures.length }, null, 2)}\n`)
  for (const failure of report.failures.slice(0, 40)) process.stdout.write(`${failure}\n`)
  assert.equal(report.failures.length, 0, 'some answers break the promises')
}
