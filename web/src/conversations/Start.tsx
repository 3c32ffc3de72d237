import { type StartTask, startTaskStatuses } from '@parley/contract/start-tasks'
import { useMutation, useQuery } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { useEffect } from 'react'
import { client } from '../api.ts'
import { duration } from '../i18n/format.ts'
import { NotHere } from '../shell/NotHere.tsx'
import { Button } from '../ui/Button.tsx'
import { putDraft } from '../ui/draft.ts'
import { ErrorNote } from '../ui/ErrorNote.tsx'
import { Loading } from '../ui/Loading.tsx'
import { Page } from '../ui/Page.tsx'
import { terminalText } from '../ui/visible.ts'
import { again, begin, startTask, type Watched } from './start-task.ts'

const route = getRouteApi('/inside/start/$taskId')

const words: Partial<Record<StartTask['status'], string>> = {
  WORKING: 'Accepted',
  WAITING_FOR_SANDBOX: 'Sandbox',
  PREPARING_REPOSITORY: 'Repository',
  RUNNING_SETUP_SCRIPT: 'Set-up script',
  SETTING_UP_GIT_HOOKS: 'Git hooks',
  SETTING_UP_SKILLS: 'Skills',
  STARTING_CONVERSATION: 'Agent',
}
const steps = startTaskStatuses.filter((status) => words[status] !== undefined)

/** A start, step by step, until the conversation is there or the cause why it is not. */
export function Start() {
  const { taskId } = route.useParams()
  const navigate = useNavigate()
  const watched = useQuery(startTask(taskId))
  const id = watched.data?.task.status === 'READY' ? watched.data.task.app_conversation_id : null
  useEffect(() => {
    if (id !== null) void navigate({ to: '/conversations/$id', params: { id }, replace: true })
  }, [id, navigate])
  if (watched.data === null) return <NotHere />
  if (watched.data === undefined)
    return watched.error === null ? <Loading what="the start" /> : <ErrorNote error={watched.error} />
  const { task } = watched.data
  return (
    <Page title={task.status === 'ERROR' ? 'The start failed' : 'Starting'}>
      <Checklist watched={watched.data} />
      {task.status === 'ERROR' ? <Failed task={task} /> : <Cancel id={task.id} />}
    </Page>
  )
}

function Checklist({ watched: { task, seen } }: { watched: Watched }) {
  const reached = steps.filter((step) => seen[step] !== undefined).at(-1)
  const at = task.status === 'READY' ? steps.length : steps.indexOf(reached ?? 'WORKING')
  return (
    <ol className="card divide-y divide-line" aria-label="Steps of the start">
      {steps.map((step, index) => {
        const state = index < at ? 'done' : index > at ? 'waits' : task.status === 'ERROR' ? 'failed' : 'runs'
        const next = steps.slice(index + 1).find((one) => seen[one] !== undefined)
        const [from, to] = [seen[step], next === undefined ? undefined : seen[next]]
        return (
          <li
            key={step}
            className="flex items-center gap-3 px-4 py-2.5"
            aria-current={state === 'runs' ? 'step' : undefined}
          >
            <Mark state={state} />
            <span className={state === 'waits' ? 'text-soft' : ''}>{words[step]}</span>
            {from !== undefined && to !== undefined && state === 'done' && (
              <span className="ml-auto text-sm text-soft">{duration(to - from)}</span>
            )}
          </li>
        )
      })}
    </ol>
  )
}

const marks = {
  done: ['✓', 'done', 'text-good'],
  runs: ['●', 'under way', 'text-accent animate-pulse'],
  failed: ['✕', 'failed', 'text-bad'],
  waits: ['○', 'not yet', 'text-soft'],
} as const

function Mark({ state }: { state: keyof typeof marks }) {
  const [sign, said, look] = marks[state]
  return (
    <span className={`w-4 text-center ${look}`}>
      <span aria-hidden>{sign}</span>
      <span className="sr-only">{said}</span>
    </span>
  )
}

function Failed({ task }: { task: StartTask }) {
  const navigate = useNavigate()
  const retry = useMutation({
    mutationFn: () => begin(again(task)),
    onSuccess: (taskId) => navigate({ to: '/start/$taskId', params: { taskId }, replace: true }),
  })
  const said = task.request.initial_message?.content.map((part) => (part.type === 'text' ? part.text : '')).join('\n')
  const edit = () => {
    if (said !== undefined) putDraft('new', said)
    void navigate({ to: '/' })
  }
  return (
    <div className="mt-4 grid gap-3">
      <pre
        role="alert"
        className="rounded-lg border border-bad bg-bad-tint p-3 text-sm wrap-anywhere whitespace-pre-wrap"
      >
        {terminalText(task.detail ?? 'The start failed without a word.').replaceAll('\u001b', '')}
      </pre>
      <ErrorNote error={retry.error} />
      <div className="flex gap-2">
        <Button kind="primary" busy={retry.isPending} onClick={() => retry.mutate()}>
          Retry
        </Button>
        <Button onClick={edit}>Change the task</Button>
      </div>
    </div>
  )
}

function Cancel({ id }: { id: string }) {
  const cancel = useMutation({ mutationFn: () => client.startTasks.cancel({ params: { id } }) })
  return (
    <div className="mt-4 grid gap-3">
      <ErrorNote error={cancel.error} />
      <div>
        <Button busy={cancel.isPending} onClick={() => cancel.mutate()}>
          Cancel
        </Button>
      </div>
    </div>
  )
}
