import { type StartTask, startTaskStatuses } from '@parley/contract/start-tasks'
import { useMutation, useQuery } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { useEffect, useLayoutEffect, useRef } from 'react'
import { client } from '../api.ts'
import { Ansi } from '../events/Ansi.tsx'
import { duration } from '../i18n/format.ts'
import type { Key } from '../i18n/message.ts'
import { t } from '../i18n/translate.ts'
import { NotHere } from '../shell/NotHere.tsx'
import { Button } from '../ui/Button.tsx'
import { putDraft } from '../ui/draft.ts'
import { Elapsed } from '../ui/Elapsed.tsx'
import { ErrorNote } from '../ui/ErrorNote.tsx'
import { Icon } from '../ui/Icon.tsx'
import { Loading } from '../ui/Loading.tsx'
import { Page } from '../ui/Page.tsx'
import { terminalText, visible } from '../ui/visible.ts'
import { again, begin, startLog, startTask, type Told } from './start-task.ts'

const route = getRouteApi('/inside/start/$taskId')

const words: Partial<Record<StartTask['status'], Extract<Key, `start.step.${string}`>>> = {
  WORKING: 'start.step.WORKING',
  WAITING_FOR_SANDBOX: 'start.step.WAITING_FOR_SANDBOX',
  PREPARING_REPOSITORY: 'start.step.PREPARING_REPOSITORY',
  RUNNING_SETUP_SCRIPT: 'start.step.RUNNING_SETUP_SCRIPT',
  SETTING_UP_GIT_HOOKS: 'start.step.SETTING_UP_GIT_HOOKS',
  SETTING_UP_SKILLS: 'start.step.SETTING_UP_SKILLS',
  STARTING_CONVERSATION: 'start.step.STARTING_CONVERSATION',
}
const steps = startTaskStatuses.filter((status) => words[status] !== undefined)

/** A start, step by step, until the conversation is there or the cause why it is not. */
export function Start() {
  const { taskId } = route.useParams()
  const navigate = useNavigate()
  const watched = useQuery(startTask(taskId))
  const log = useQuery(startLog(taskId))
  const id = watched.data?.status === 'READY' ? watched.data.app_conversation_id : null
  useEffect(() => {
    if (id !== null) void navigate({ to: '/conversations/$id', params: { id }, replace: true })
  }, [id, navigate])
  const task = watched.data
  if (task === null) return <NotHere />
  if (task === undefined) return watched.error === null ? <Loading /> : <ErrorNote error={watched.error} />
  return (
    <Page title={t(task.status === 'ERROR' ? 'start.failed' : 'start.title')}>
      <About task={task} />
      {task.status === 'ERROR' && <Failed task={task} />}
      <Checklist task={task} told={log.data} />
      {task.status !== 'ERROR' && <Cancel id={task.id} />}
    </Page>
  )
}

const saidIn = ({ request }: StartTask): string =>
  request.initial_message?.content.map((part) => (part.type === 'text' ? part.text : '')).join('\n') ?? ''

/** What is started, and on what. */
function About({ task }: { task: StartTask }) {
  const { selected_repository: repository, selected_branch: branch } = task.request
  const said = saidIn(task)
  if (said === '' && repository === null) return null
  return (
    <div className="mb-4 text-sm text-soft">
      {said !== '' && <p className="line-clamp-3 wrap-anywhere whitespace-pre-wrap">{visible(said)}</p>}
      {repository !== null && (
        <p className="mt-1 flex items-center gap-1.5">
          <Icon name="branch" className="size-3.5" />
          {visible([repository, branch].filter((part) => part !== null).join(' · '))}
        </p>
      )}
    </div>
  )
}

function Checklist({ task, told }: { task: StartTask; told: Told | undefined }) {
  const seen = new Map(told?.steps.map(({ status, at }) => [status, Date.parse(at)] as const).toReversed())
  const reached = steps.filter((step) => seen.has(step)).at(-1)
  const at = task.status === 'READY' ? steps.length : steps.indexOf(reached ?? 'WORKING')
  const about = told?.steps.findLast(({ status, detail }) => status === reached && detail !== null)?.detail ?? null
  return (
    <ol className="card divide-y divide-line overflow-hidden" aria-label={t('start.steps')}>
      {steps.map((step, index) => {
        const state = index < at ? 'done' : index > at ? 'waits' : task.status === 'ERROR' ? 'failed' : 'runs'
        const next = steps[index + 1]
        const [from, to] = [seen.get(step), next === undefined ? undefined : seen.get(next)]
        const isNow = state === 'runs' || state === 'failed'
        return (
          <li key={step} aria-current={state === 'runs' ? 'step' : undefined}>
            <div className="flex items-center gap-3 px-4 py-2.5">
              <Mark state={state} />
              <span className={state === 'waits' ? 'text-soft' : ''}>{t(words[step] ?? 'start.title')}</span>
              {isNow && about !== null && <span className="min-w-0 truncate text-sm text-soft">{visible(about)}</span>}
              <span className="ml-auto text-sm text-soft tabular-nums">
                {state === 'done' && from !== undefined && to !== undefined && duration(to - from)}
                {state === 'runs' && from !== undefined && <Elapsed since={from} />}
              </span>
            </div>
            {isNow && told !== undefined && told.output !== '' && <Tail text={told.output} />}
          </li>
        )
      })}
    </ol>
  )
}

/** What the step prints, at its end. */
function Tail({ text }: { text: string }) {
  const place = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => {
    const pre = place.current?.querySelector('pre')
    pre?.scrollTo({ top: pre.scrollHeight })
  }, [text])
  return (
    <div
      ref={place}
      role="log"
      aria-label={t('start.log')}
      className="border-t border-line bg-panel [&_pre]:max-h-64 [&_pre]:pl-11"
    >
      <Ansi text={text.trimEnd()} />
    </div>
  )
}

const marks = {
  done: ['check', 'text-good'],
  failed: ['cross', 'text-bad'],
  runs: [null, 'text-accent animate-pulse bg-current'],
  waits: [null, 'border border-edge'],
} as const

function Mark({ state }: { state: keyof typeof marks }) {
  const [icon, look] = marks[state]
  return (
    <span className="grid size-5 place-items-center">
      {icon === null ? (
        <span aria-hidden className={`size-2.5 rounded-full ${look}`} />
      ) : (
        <Icon name={icon} className={`size-4 ${look}`} />
      )}
      <span className="sr-only">{t(`start.state.${state}`)}</span>
    </span>
  )
}

function Failed({ task }: { task: StartTask }) {
  const navigate = useNavigate()
  const retry = useMutation({
    mutationFn: () => begin(again(task)),
    onSuccess: (taskId) => navigate({ to: '/start/$taskId', params: { taskId }, replace: true }),
  })
  const edit = () => {
    const said = saidIn(task)
    if (said !== '') putDraft('new', said)
    void navigate({ to: '/' })
  }
  return (
    <div className="mb-4 grid gap-3">
      <pre
        role="alert"
        className="rounded-lg border border-bad bg-bad-tint p-3 font-mono text-[0.8125rem] wrap-anywhere whitespace-pre-wrap"
      >
        {terminalText(task.detail ?? t('start.no-word')).replaceAll('\u001b', '')}
      </pre>
      <ErrorNote error={retry.error} />
      <div className="flex gap-2">
        <Button kind="primary" busy={retry.isPending} onClick={() => retry.mutate()}>
          {t('start.retry')}
        </Button>
        <Button onClick={edit}>{t('start.edit')}</Button>
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
          {t('ui.cancel')}
        </Button>
      </div>
    </div>
  )
}
