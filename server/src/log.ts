import { pino } from 'pino'
import type { Config } from './config.ts'

/** One line of JSON for each thing worth knowing, on standard error; standard output is for people. */
export interface Log {
  debug(details: object | string, message?: string): void
  info(details: object | string, message?: string): void
  warn(details: object | string, message?: string): void
  error(details: object | string, message?: string): void
}

/** What must not be in a log whatever is logged by mistake. */
const hidden = ['authorization', 'key', 'token', 'password', 'secret', 'value', 'cookie'].flatMap((name) => [
  name,
  `*.${name}`,
])

export const openLog = (level: Config['logLevel']): Log =>
  pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      redact: { paths: hidden, censor: '***' },
      serializers: { error: pino.stdSerializers.err, err: pino.stdSerializers.err },
    },
    pino.destination({ fd: 2, sync: false }),
  )
