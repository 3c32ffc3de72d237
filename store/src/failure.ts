import { Problem, type ProblemCode } from '@parley/contract/problems'

/*
 * What the driver throws, as what a caller may be told. Only outages become problems: a violated constraint stays the
 * driver's own error, because the store that wrote the row knows what it means.
 */

/** SQLSTATE class or code, or a system error's code → the problem. */
const outages: Record<string, ProblemCode> = {
  '08': 'unavailable', // connection exceptions
  '57P': 'unavailable', // shutdown, crash, starting up
  '57014': 'unavailable', // statement time-out
  '25P03': 'unavailable', // idle in transaction time-out
  '53300': 'unavailable', // too many connections
  '53200': 'unavailable', // out of memory
  '40001': 'unavailable', // serialization failure
  '40P01': 'unavailable', // deadlock
  '55P03': 'unavailable', // lock not available
  '53100': 'storage_full',
  '25006': 'storage_full', // read-only, as the embedded database is made when its disk is nearly full
  ECONNREFUSED: 'unavailable',
  ECONNRESET: 'unavailable',
  ECONNABORTED: 'unavailable',
  ENOENT: 'unavailable', // the socket of a server that is down
  EPIPE: 'unavailable',
  ETIMEDOUT: 'unavailable',
  EHOSTUNREACH: 'unavailable',
  ENETUNREACH: 'unavailable',
  ENOTFOUND: 'unavailable',
  EAI_AGAIN: 'unavailable',
}

/** The driver has no codes for these. */
const lost =
  /connection terminated|connection ended|timeout expired|timeout exceeded|read timeout|not queryable|Cannot use a pool/i

/** The same error, or the problem it is for the caller with the error as its cause. */
export function failure(error: unknown): unknown {
  if (error instanceof Problem || !(error instanceof Error)) return error
  const problem = problemOf(error)
  if (!problem) return error
  return new Problem(problem, undefined, { retryAfter: problem === 'storage_full' ? 10 : 1 }, { cause: error })
}

/** True when the connection that gave this error must not be used again. */
export const breaksConnection = (error: unknown): boolean =>
  error instanceof Error && problemOf(error) === 'unavailable' && !staysUsable.has(codeOf(error) ?? '')

/** The server refused one statement; the session goes on. */
const staysUsable = new Set(['57014', '40001', '40P01', '55P03', '53200'])

export const isUnavailable = (error: unknown): boolean => error instanceof Problem && error.code === 'unavailable'

function problemOf(error: Error): ProblemCode | undefined {
  const code = codeOf(error)
  if (code === undefined) return lost.test(error.message) ? 'unavailable' : undefined
  return outages[code] ?? outages[code.slice(0, 3)] ?? outages[code.slice(0, 2)]
}

function codeOf(error: Error): string | undefined {
  return 'code' in error && typeof error.code === 'string' ? error.code : undefined
}
