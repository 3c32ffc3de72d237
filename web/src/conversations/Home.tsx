import type { StartRequestInput } from '@parley/contract/start-request'
import { useMutation, useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { accounts } from '../git/accounts.ts'
import { RepositoryPicker } from '../git/RepositoryPicker.tsx'
import { SuggestedTasks } from '../git/SuggestedTasks.tsx'
import { t } from '../i18n/translate.ts'
import { ModelPicker } from '../models/ModelPicker.tsx'
import { demoModel, settings } from '../settings/settings.ts'
import { putDraft, useDraft } from '../ui/draft.ts'
import { ErrorNote } from '../ui/ErrorNote.tsx'
import { useTitle } from '../ui/Page.tsx'
import { contentOf, useImages } from './Attachments.tsx'
import { type Choices, modes, startedWith, useChoices } from './choices.ts'
import { Composer } from './Composer.tsx'
import { Recent } from './Recent.tsx'
import { begin } from './start-task.ts'
import type { Source } from './suggest.ts'

/** The first page: say what is to be done; below it what was done last. */
export function Home() {
  useTitle('Parley')
  const connected = useQuery(accounts)
  const stored = useQuery(settings)
  const go = useStart()
  const suggests = stored.data?.enable_proactive_conversation_starters === true
  return (
    <div className="mx-auto w-full max-w-3xl p-4 sm:pt-[max(3rem,14vh)]">
      <h1 className="mb-5 text-2xl font-semibold tracking-tight sm:text-center sm:text-[1.75rem]">{t('home.title')}</h1>
      <NewConversation go={go} />
      <div className="mt-2">
        <ErrorNote error={go.error} />
      </div>
      {suggests && connected.data !== undefined && connected.data.length > 0 && (
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
      if (!suggested_task) {
        putDraft('new', '')
        startedWith()
      }
      return navigate({ to: '/start/$taskId', params: { taskId } })
    },
  })
}

function NewConversation({ go }: { go: ReturnType<typeof useStart> }) {
  const [text, setText] = useDraft('new')
  const [{ repository, model, mode }, choose] = useChoices()
  const images = useImages()
  const stored = useQuery(settings)
  const usual = stored.data?.llm_model ?? demoModel
  const send = () =>
    go.mutate({
      initial_message: { role: 'user', content: contentOf(text, images.list), run: true },
      llm_model: model,
      agent_type: mode,
      trigger: 'gui',
      ...(repository && {
        git_provider: repository.provider,
        selected_repository: repository.repository,
        selected_branch: repository.branch,
      }),
    })
  return (
    <>
      <Composer
        label={t('home.task')}
        placeholder={t('home.placeholder')}
        text={text}
        onText={setText}
        onSend={send}
        isSending={go.isPending}
        images={images}
        sources={{ '/': useCommands(choose) }}
        isTall
        autoFocus
      >
        <RepositoryPicker value={repository} onPick={(picked) => choose({ repository: picked })} />
        <ModelPicker isQuiet value={model} none={usual} onPick={(name) => choose({ model: name })} />
        <Mode mode={mode} onChoose={(one) => choose({ mode: one })} />
      </Composer>
      <Hint isDemo={(model ?? usual) === demoModel && stored.data !== undefined} />
    </>
  )
}

function useCommands(choose: (change: Partial<Choices>) => void): Source {
  const navigate = useNavigate()
  const commands = [
    { value: '/plan', note: t('home.command.plan'), act: () => choose({ mode: 'plan' }) },
    { value: '/agent', note: t('home.command.agent'), act: () => choose({ mode: 'default' }) },
    { value: '/settings', note: t('home.command.settings'), act: () => void navigate({ to: '/settings' }) },
    { value: '/conversations', note: t('home.command.all'), act: () => void navigate({ to: '/conversations' }) },
  ]
  return { key: ['home'], search: (words) => commands.filter(({ value }) => value.startsWith(`/${words}`)) }
}

function Mode({ mode, onChoose }: { mode: Choices['mode']; onChoose: (mode: Choices['mode']) => void }) {
  return (
    <select
      aria-label={t('home.mode')}
      title={t(`home.mode.${mode}.hint`)}
      className="chosen min-h-9 rounded-lg bg-transparent pl-2 text-sm font-medium text-soft hover:bg-panel hover:text-ink"
      value={mode}
      onChange={({ target }) => onChoose(target.value === 'plan' ? 'plan' : 'default')}
    >
      {modes.map((one) => (
        <option key={one} value={one}>
          {t(`home.mode.${one}`)}
        </option>
      ))}
    </select>
  )
}

const Hint = ({ isDemo }: { isDemo: boolean }) => (
  <p className="mt-2 min-h-6 px-1 text-sm text-soft sm:text-center">
    {isDemo ? (
      <>
        {t('home.demo', { model: demoModel })}{' '}
        <Link to="/settings/$section" params={{ section: 'model' }} className="text-accent underline">
          {t('home.choose-model')}
        </Link>
      </>
    ) : (
      t('home.keys')
    )}
  </p>
)
