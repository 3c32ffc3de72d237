import { z } from 'zod'

/** A time in an answer: UTC, `Z`, three fractional digits, as in `2026-11-21T07:13:05.120Z`. */
export const Timestamp = z.iso.datetime({ precision: 3 }).meta({ description: 'UTC time with milliseconds and `Z`.' })

/** A time in a request: ISO 8601 with `Z` or an offset; without a zone it is taken as UTC. Answered as `Timestamp`. */
export const TimestampInput = z.iso
  .datetime({ offset: true, local: true })
  .transform((text) => new Date(/(Z|[+-]\d\d:?\d\d)$/i.test(text) ? text : `${text}Z`).toISOString())
  .meta({ description: 'ISO 8601 time; without a zone it is UTC.' })
