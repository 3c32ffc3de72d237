import type { AppConversation } from '@parley/contract/conversations'
import { useMutation } from '@tanstack/react-query'
import { client, queries } from '../api.ts'
import { t } from '../i18n/translate.ts'
import { Button } from '../ui/Button.tsx'

type Verb = 'pause' | 'interrupt' | 'run' | 'resume'

/** Stopping the agent at once or after its step, and letting it go on. */
export function Controls({ of: one }: { of: AppConversation }) {
  const act = useMutation({
    mutationFn: (verb: Verb) => client.conversations[verb]({ params: { id: one.id } }),
    onSettled: () => queries.invalidateQueries({ queryKey: ['conversation', one.id] }),
  })
  const button = (verb: Verb, label: string, title: string) => (
    <Button title={title} busy={act.isPending} onClick={() => act.mutate(verb)}>
      {label}
    </Button>
  )
  const isPaused =
    one.execution_status === 'paused' || (one.execution_status === null && one.sandbox_status === 'PAUSED')
  return (
    <div className="flex gap-2">
      {one.execution_status === 'running' && button('pause', t('control.pause'), t('control.pause.about'))}
      {one.execution_status === 'running' && button('interrupt', t('control.stop'), t('control.stop.about'))}
      {isPaused && button('resume', t('control.resume'), t('control.resume.about'))}
      {(one.execution_status === 'error' || one.execution_status === 'stuck') &&
        button('run', t('control.again'), t('control.again.about'))}
      {act.error !== null && (
        <span role="alert" className="self-center text-sm text-bad">
          {act.error.message}
        </span>
      )}
    </div>
  )
}
