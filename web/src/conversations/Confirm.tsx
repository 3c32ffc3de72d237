import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { client, queries } from '../api.ts'
import type { Item } from '../events/timeline.ts'
import { titleOf } from '../events/title.ts'
import { Button } from '../ui/Button.tsx'
import { ErrorNote } from '../ui/ErrorNote.tsx'
import { Field } from '../ui/Field.tsx'
import { visible } from '../ui/visible.ts'

type Call = Extract<Item, { kind: 'tool' }>

const risks = { UNKNOWN: '', LOW: 'low risk', MEDIUM: 'medium risk', HIGH: 'high risk' }

/** The actions that wait for an answer: approve all of them, or reject them and say why. */
export function Confirm({ id, calls }: { id: string; calls: Call[] }) {
  const [rejects, setRejects] = useState(false)
  const [reason, setReason] = useState('')
  const answer = useMutation({
    mutationFn: (accept: boolean) =>
      client.events.respondToConfirmation({
        params: { id },
        body: accept || reason.trim() === '' ? { accept } : { accept, reason: reason.trim() },
      }),
    onSettled: () => queries.invalidateQueries({ queryKey: ['conversation', id] }),
  })
  return (
    <section aria-label="The agent asks" className="mb-2 grid gap-3 rounded-xl border border-warn bg-warn-tint p-3">
      <p className="font-medium">The agent asks before it acts</p>
      <ul className="grid gap-1">
        {calls.map(({ key, action }) => {
          const { verb, what } = titleOf(action)
          return (
            <li key={key} className="flex flex-wrap items-baseline gap-x-2">
              <span className="text-sm">{visible(verb)}</span>
              <pre
                className="max-h-40 min-w-0 flex-1 overflow-auto text-[0.8125rem] wrap-anywhere whitespace-pre-wrap"
                tabIndex={0}
              >
                {visible(what)}
              </pre>
              <span className="text-sm text-warn">{risks[action.security_risk]}</span>
            </li>
          )
        })}
      </ul>
      {rejects && (
        <Field label="Why not? The agent reads it.">
          {(tie) => (
            <textarea
              {...tie}
              className="field"
              rows={2}
              maxLength={10000}
              value={reason}
              onChange={(event) => setReason(event.target.value)}
            />
          )}
        </Field>
      )}
      <ErrorNote error={answer.error} />
      <div className="flex flex-wrap gap-2">
        {!rejects && (
          <Button kind="primary" busy={answer.isPending} onClick={() => answer.mutate(true)}>
            Approve
          </Button>
        )}
        <Button
          kind="danger"
          busy={answer.isPending}
          onClick={() => (rejects ? answer.mutate(false) : setRejects(true))}
        >
          Reject
        </Button>
        {rejects && <Button onClick={() => setRejects(false)}>Back</Button>}
      </div>
    </section>
  )
}
