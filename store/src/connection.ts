import pg from 'pg'

/** A URL (`postgres://…`), or the socket directory and the account of a server on this machine. */
export type Connection = string | { host: string; user: string; password: string; database: string }

const connectMs = 2_000
const statementMs = 10_000
/** Only reached when the server's own time-out cannot fire because the server is gone without a word. */
const silenceMs = 12_000

/** What every client of ours is made with: time-outs, UTC and our types. */
export function clientConfig(connection: Connection, applicationName: string): pg.ClientConfig {
  return {
    ...(typeof connection === 'string' ? { connectionString: connection } : connection),
    application_name: applicationName,
    connectionTimeoutMillis: connectMs,
    statement_timeout: statementMs,
    idle_in_transaction_session_timeout: statementMs,
    query_timeout: silenceMs,
    pipeline: true,
    keepAlive: true,
    options: '-c timezone=UTC -c datestyle=ISO',
    types: { getTypeParser: typeParser },
  }
}

type Parse = (text: string) => unknown

const int8 = (text: string): number => {
  const value = Number(text)
  if (!Number.isSafeInteger(value)) throw new RangeError(`The bigint ${text} is beyond 2^53.`)
  return value
}

/** `2026-11-21 07:13:05.12+00` → `2026-11-21T07:13:05.120Z`; what is not a time (infinity) stays as it is. */
const instant = (text: string): string => {
  const parts = /^(\d{4,})-(\d\d)-(\d\d) (\d\d:\d\d:\d\d)(?:\.(\d+))?(?:\+00)?$/.exec(text)
  if (!parts) return text
  const [, year, month, day, time, fraction = ''] = parts
  return `${year}-${month}-${day}T${time}.${fraction.slice(0, 3).padEnd(3, '0')}Z`
}

const { builtins } = pg.types
const textArrayOid: number = 1009
const textArray = pg.types.getTypeParser(textArrayOid, 'text') as (text: string) => (string | null)[]
const each =
  (parse: Parse): Parse =>
  (text) =>
    textArray(text).map((item) => (item === null ? null : parse(item)))

/** 1016, 1185, 1231, 2951: the arrays of the types above them, which pg does not name. */
const parsers: Record<number, Parse> = {
  [builtins.INT8]: int8,
  [builtins.NUMERIC]: Number,
  [builtins.TIMESTAMPTZ]: instant,
  [builtins.TIMESTAMP]: instant,
  [builtins.DATE]: (text) => text,
  1016: each(int8),
  1231: each(Number),
  1185: each(instant),
  2951: textArray,
}

function typeParser(oid: number, format?: string) {
  const ours = format === 'binary' ? undefined : parsers[oid]
  return ours ?? pg.types.getTypeParser(oid, format as 'text')
}
