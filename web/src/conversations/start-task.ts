import { start } from '@parley/client/follow'
import type { StartRequestInput } from '@parley/contract/start-request'
import { type StartTask, startEnded } from '@parley/contract/start-tasks'
import { queryOptions } from '@tanstack/react-query'
import { client, queries } from '../api.ts'

/** A start as the page knows it: the task, and when each status was first seen. */
export interface Watched {
  task: StartTask
  seen: Partial<Record<StartTask['status'], number>>
}

const key = (id: string) => ['start-task', id]

function note(task: StartTask): Watched {
  const before = queries.getQueryData<Watched>(key(task.id))
  const watched = { task, seen: { [task.status]: Date.parse(task.updated_at), ...before?.seen } }
  queries.setQueryData(key(task.id), watched)
  return watched
}

/** Looked at every second until the start ends; while it is streamed that only confirms what is known. */
export const startTask = (id: string) =>
  queryOptions({
    queryKey: key(id),
    queryFn: async (): Promise<Watched | null> => {
      const [task] = await client.startTasks.getMany({ query: { ids: [id] } })
      return task ? note(task) : null
    },
    refetchInterval: ({ state }) => (state.data && !startEnded(state.data.task.status) ? 1000 : false),
  })

/** Begins a start and resolves with its id as soon as it is accepted; the rest of the stream is noted as it comes. */
export function begin(body: StartRequestInput): Promise<string> {
  return new Promise((resolve, reject) => {
    const changed = (task: StartTask) => resolve(note(task).task.id)
    // After the first status the promise is settled, and how the start ends is read from the task itself.
    start(client, body, { changed }).then((task) => note(task), reject)
  })
}

/** The same start again: what was asked for, without what the service added. */
export function again({ request }: StartTask): StartRequestInput {
  const { conversation_id: _, sandbox_id: __, ...rest } = request
  const { initial_message, suggested_task } = rest
  return { ...rest, initial_message: suggested_task === null ? initial_message : null } as StartRequestInput
}
