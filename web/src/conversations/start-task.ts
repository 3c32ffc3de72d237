import { start } from '@parley/client/follow'
import type { StartRequestInput } from '@parley/contract/start-request'
import { type StartLog, type StartTask, startEnded } from '@parley/contract/start-tasks'
import { queryOptions } from '@tanstack/react-query'
import { client, queries } from '../api.ts'

const key = (id: string) => ['start-task', id]

function note(task: StartTask): StartTask {
  queries.setQueryData(key(task.id), task)
  return task
}

/** Looked at every second until the start ends; while it is streamed that only confirms what is known. */
export const startTask = (id: string) =>
  queryOptions({
    queryKey: key(id),
    queryFn: async (): Promise<StartTask | null> =>
      (await client.startTasks.getMany({ query: { ids: [id] } }))[0] ?? null,
    refetchInterval: ({ state }) => (state.data && !startEnded(state.data.status) ? 1000 : false),
  })

export type Told = StartLog

/** When each step began, and what the last one prints. */
export const startLog = (id: string) =>
  queryOptions({
    queryKey: ['start-log', id],
    queryFn: () => client.startTasks.log({ params: { id } }),
    refetchInterval: ({ state }) => (state.data && startEnded(state.data.status) ? false : 1000),
    staleTime: 0,
  })

/** Begins a start and resolves with its id as soon as it is accepted; the rest of the stream is noted as it comes. */
export function begin(body: StartRequestInput): Promise<string> {
  return new Promise((resolve, reject) => {
    const changed = (task: StartTask) => resolve(note(task).id)
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
