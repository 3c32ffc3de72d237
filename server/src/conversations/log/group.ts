import { grouped } from '@parley/store/grouped'
import type { Appended, LogStore } from './store.ts'

export type AppendFenced = LogStore['appendFenced']

/** Appends of all the runs in this process: those that come together are one commit. */
export function groupedAppends(store: Pick<LogStore, 'appendMany'>): AppendFenced {
  const append = grouped(async (group: readonly Appended[]) => {
    const bases = await store.appendMany(group)
    return group.map(({ conversation }) => bases.get(conversation))
  })
  return (conversation, epoch, events, change = {}) => append({ conversation, epoch, events, change })
}
