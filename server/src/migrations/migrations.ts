import { first } from './0001-first.ts'
import { people } from './0003-people.ts'

/** One list for the whole database, in order. Forward only. */
export const migrations = { '0001-first': first, '0003-people': people }
