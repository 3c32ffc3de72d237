import type { LogEvent } from '@parley/contract/events'

/** A task of the list that the agent keeps. */
export interface Task {
  title: string
  notes: string
  status: 'todo' | 'in_progress' | 'done'
}

const statuses = ['todo', 'in_progress', 'done'] as const
const word = (value: unknown): string => (typeof value === 'string' ? value : '')

function taskOf(given: unknown): Task[] {
  if (typeof given !== 'object' || given === null) return []
  const { title, notes, status } = given as Record<string, unknown>
  return [{ title: word(title), notes: word(notes), status: statuses.find((one) => one === status) ?? 'todo' }]
}

/** The newest list in a part of the log: every observation of the tracker has the whole of it. Null when there is none. */
export function plannedTasks(events: readonly LogEvent[]): Task[] | null {
  const last = events.findLast(
    (event) =>
      event.kind === 'ObservationEvent' &&
      event.observation.kind === 'TaskTrackerObservation' &&
      !event.observation.is_error,
  )
  const list = last?.kind === 'ObservationEvent' ? last.observation['task_list'] : undefined
  return Array.isArray(list) ? list.flatMap(taskOf) : null
}
