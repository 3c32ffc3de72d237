import { first } from './0001-first.ts'

/** One list for the whole database, in order. Forward only. */
export const migrations = { '0001-first': first }
