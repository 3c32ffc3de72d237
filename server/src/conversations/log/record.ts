import type { LogEvent, NewEvent } from '@parley/contract/events'
import type { EventRow, NewEventRow } from './store.ts'

/** As it goes out and as the brain reads it: the columns first, then the event's own fields as they were kept. */
export function record(row: EventRow): LogEvent {
  const head = { id: row.id, seq: row.seq, timestamp: row.at, source: row.source, kind: row.kind, parent_id: null }
  return { ...head, ...body(row) } as LogEvent
}

/** The record of an event that has just become a row: what `record` would read back, without reading it back. */
export const recordOf = (event: NewEvent, { id, at }: NewEventRow, seq: number): LogEvent =>
  ({ ...event, id, seq, timestamp: at, parent_id: null }) as LogEvent

/** The same as JSON text, without reading what is kept. */
export function recordText(row: EventRow): string {
  const head = `{"id":"${row.id}","seq":${row.seq},"timestamp":"${row.at}","source":"${row.source}","kind":"${row.kind}","parent_id":null`
  return row.body.length > 2 ? `${head},${row.body.slice(1)}` : `${head}}`
}

/** What is kept of a new event. PostgreSQL's text holds no NUL, and JSON text has none. */
export function newRow(event: NewEvent, id: string, at: string): NewEventRow {
  const { kind, source, id: _, ...own } = event
  return { id, kind, source, at, body: JSON.stringify(own) }
}

// The kind decides which fields the body has; the row was written by `newRow` from that very union.
const body = (row: EventRow) => JSON.parse(row.body) as object
