import type { AppConversation } from '@parley/contract/conversations'
import { useMutation } from '@tanstack/react-query'
import { t } from '../i18n/translate.ts'
import { Button } from '../ui/Button.tsx'
import { Icon } from '../ui/Icon.tsx'
import { tell, type Verb, verbsFor } from './verbs.ts'

const looks = {
  pause: ['pause', 'control.pause', 'control.pause.about'],
  interrupt: ['stop', 'control.stop', 'control.stop.about'],
  resume: ['play', 'control.resume', 'control.resume.about'],
  run: ['play', 'control.again', 'control.again.about'],
} as const satisfies Record<Verb, readonly string[]>

/** Stopping the agent at once or after its step, and letting it go on. */
export function Controls({ of: one }: { of: AppConversation }) {
  const act = useMutation({ mutationFn: (verb: Verb) => tell(one.id, verb) })
  const verbs = verbsFor(one)
  if (verbs.length === 0 && act.error === null) return null
  return (
    <div className="flex gap-1.5">
      {verbs.map((verb) => {
        const [icon, label, about] = looks[verb]
        return (
          <Button
            key={verb}
            className="max-sm:px-2.5!"
            title={t(about)}
            busy={act.isPending}
            onClick={() => act.mutate(verb)}
          >
            <Icon name={icon} className="size-3.5" />
            <span className="max-sm:sr-only">{t(label)}</span>
          </Button>
        )
      })}
      {act.error !== null && (
        <span role="alert" className="self-center text-sm text-bad">
          {act.error.message}
        </span>
      )}
    </div>
  )
}
