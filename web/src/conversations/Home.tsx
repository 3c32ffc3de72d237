import type { StartRequestInput } from '@parley/contract/start-request'
import { useMutation, useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { accounts } from '../git/accounts.ts'
import { type Chosen, RepositoryPicker } from '../git/RepositoryPicker.tsx'
import { SuggestedTasks } from '../git/SuggestedTasks.tsx'
import { ModelPicker } from '../models/ModelPicker.tsx'
import { demoModel, settings } from '../settings/settings.ts'
import { putDraft, useDraft } from '../ui/draft.ts'
import { ErrorNote } from '../ui/ErrorNote.tsx'
import { useTitle } from '../ui/Page.tsx'
import { Composer } from './Composer.tsx'
import { Recent } from './Recent.tsx'
import { begin } from './start-task.ts'

/** The first page: say what is to be done; below it what was done last. */
export function Home() {
  useTitle('Parley')
  const connected = useQuery(accounts)
  const go = useStart()
  return (
    <div className="mx-auto w-full max-w-3xl p-4 sm:pt-14">
      <h1 className="mb-4 text-2xl font-semibold">What shall we work on?</h1>
      <NewConversation go={go} />
      <div className="mt-2">
        <ErrorNote error={go.error} />
      </div>
      {connected.data !== undefined && connected.data.length > 0 && (
        <SuggestedTasks onPick={(task) => go.mutate(task)} />
      )}
      <Recent />
    </div>
  )
}

function useStart() {
  const navigate = useNavigate()
  return useMutation({
    mutationFn: (body: StartRequestInput) => begin(body),
    onSuccess: (taskId, { suggested_task }) => {
      // What was written is in the start now; a suggestion that was chosen leaves it alone.
      if (!suggested_task) putDraft('new', '')
      return navigate({ to: '/start/$taskId', params: { taskId } })
    },
  })
}

function NewConversation({ go }: { go: ReturnType<typeof useStart> }) {
  const [text, setText] = useDraft('new')
  const [chosen, setChosen] = useState<Chosen | null>(null)
  const [model, setModel] = useState<string | null>(null)
  const [plans, setPlans] = useState(false)
  const stored = useQuery(settings)
  const usual = stored.data?.llm_model ?? demoModel
  const send = () => {
    const place = chosen && {
      git_provider: chosen.provider,
      selected_repository: chosen.repository,
      selected_branch: chosen.branch,
    }
    const message = {
      role: 'user' as const,
      content: [{ type: 'text' as const, text, cache_prompt: false }],
      run: true,
    }
    const agent_type = plans ? ('plan' as const) : ('default' as const)
    const request = { initial_message: message, llm_model: model, agent_type, trigger: 'gui' as const, ...place }
    go.mutate(request)
  }
  return (
    <>
      <Composer
        label="Task for the agent"
        placeholder="Describe a task"
        text={text}
        onText={setText}
        onSend={send}
        isSending={go.isPending}
        isTall
        autoFocus
      >
        <RepositoryPicker value={chosen} onPick={setChosen} />
        <ModelPicker value={model} none={usual} onPick={setModel} />
        <label className="flex min-h-9 items-center gap-2 px-1 text-sm">
          <input type="checkbox" checked={plans} onChange={(event) => setPlans(event.target.checked)} />
          Plan only
        </label>
      </Composer>
      {(model ?? usual) === demoModel && stored.data !== undefined && (
        <p className="mt-2 text-sm text-soft">
          {demoModel} is a script that shows how a run works.{' '}
          <Link to="/settings/$section" params={{ section: 'model' }} className="text-accent underline">
            Choose a model
          </Link>{' '}
          for real work.
        </p>
      )}
    </>
  )
}
