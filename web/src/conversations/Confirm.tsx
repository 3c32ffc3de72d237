import type { ConfirmationAnswer } from '@parley/contract/event-calls'
import { Problem } from '@parley/contract/problems'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { client, queries } from '../api.ts'
import type { Tool } from '../events/timeline.ts'
import { t } from '../i18n/translate.ts'
import { Button } from '../ui/Button.tsx'
import { ErrorNote } from '../ui/ErrorNote.tsx'
import { Field } from '../ui/Field.tsx'
import { approval, type Edits, refusal } from './answer.ts'
import { Asking } from './Asking.tsx'

type Body = Pick<ConfirmationAnswer, 'accept'> & Partial<ConfirmationAnswer>

interface ConfirmProps {
  id: string
  calls: Tool[]
  /** What was written is kept while the agent goes on with a part of them and asks again for the rest. */
  isAsked: boolean
}

const mostTries = 10
const againMs = 300
const frame = 'mb-2 overflow-hidden rounded-2xl border border-warn bg-raised shadow-sm'

/** The actions that wait for an answer: approve them as they are or changed, or reject them and say why; some or all. */
export function Confirm({ id, calls, isAsked }: ConfirmProps) {
  const [rejects, setRejects] = useState(false)
  const [reason, setReason] = useState('')
  const [left, setLeft] = useState<ReadonlySet<string>>(new Set())
  const [edits, setEdits] = useState<Edits>({})
  const answer = useAnswer(id, (said) => {
    setLeft(new Set())
    // Who begins to reject the rest before the first answer has arrived goes on with that.
    if (said.accept) return
    setRejects(false)
    setReason('')
  })
  const chosen = new Set(calls.map(({ key }) => key).filter((key) => !left.has(key)))
  const yes = approval({ calls, chosen, edits })
  const choose = (key: string, isChosen: boolean) =>
    setLeft((before) => new Set(isChosen ? [...before].filter((one) => one !== key) : [...before, key]))
  const edit = (key: string, text: string | null) =>
    setEdits(({ [key]: _, ...others }) => (text === null ? others : { ...others, [key]: text }))
  if (!isAsked) return null
  return (
    <section aria-label={t('confirm.label')} className={frame}>
      <h2 className="bg-warn-tint px-4 py-2 text-sm font-medium text-warn">{t('confirm.title')}</h2>
      <ul className="grid max-h-[40vh] gap-3 overflow-y-auto p-3" tabIndex={0}>
        {calls.map((call) => (
          <li key={call.key}>
            <Asking
              call={call}
              isChosen={chosen.has(call.key)}
              onChoose={calls.length > 1 ? (isChosen) => choose(call.key, isChosen) : null}
              edit={edits[call.key] ?? null}
              onEdit={(text) => edit(call.key, text)}
            />
          </li>
        ))}
      </ul>
      <div className="grid gap-3 px-3 pb-3">
        {rejects && (
          <Field label={t('confirm.why-not')}>
            {(tie) => (
              <textarea
                {...tie}
                className="field"
                rows={2}
                maxLength={10000}
                value={reason}
                autoFocus
                onChange={(event) => setReason(event.target.value)}
              />
            )}
          </Field>
        )}
        <ErrorNote error={answer.error} />
        <div className="flex flex-wrap gap-2">
          {!rejects && (
            <Button
              kind="primary"
              busy={answer.isPending}
              disabled={yes === null || chosen.size === 0}
              onClick={() => yes !== null && answer.mutate(yes)}
            >
              {left.size === 0 ? t('confirm.approve') : t('confirm.approve-some', { count: chosen.size })}
            </Button>
          )}
          <Button
            kind="danger"
            busy={answer.isPending}
            disabled={chosen.size === 0}
            onClick={() => (rejects ? answer.mutate(refusal({ calls, chosen }, reason)) : setRejects(true))}
          >
            {t('confirm.reject')}
          </Button>
          {rejects && <Button onClick={() => setRejects(false)}>{t('confirm.back')}</Button>}
        </div>
      </div>
    </section>
  )
}

const useAnswer = (id: string, onSaid: (body: Body) => void) =>
  useMutation({
    mutationFn: (body: Body) => client.events.respondToConfirmation({ params: { id }, body }),
    // Who answers for the rest at once meets an agent that goes on with the first, and asks again in a moment.
    retry: (times, error) => times < mostTries && error instanceof Problem && error.code === 'state_conflict',
    retryDelay: againMs,
    onSuccess: (_, body) => onSaid(body),
    onSettled: () => queries.invalidateQueries({ queryKey: ['conversation', id] }),
  })
