import type { AppConversation } from '@parley/contract/conversations'
import type { Sandbox } from '@parley/contract/sandboxes'
import { sandboxAllows } from '@parley/contract/sandboxes'
import { useMutation, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { client, queries } from '../api.ts'
import { moment } from '../i18n/format.ts'
import { t } from '../i18n/translate.ts'
import { Button } from '../ui/Button.tsx'
import { CopyButton } from '../ui/CopyButton.tsx'
import { DeleteButton } from '../ui/DeleteButton.tsx'
import { ErrorNote } from '../ui/ErrorNote.tsx'
import { SandboxChip, StatusChip } from '../ui/StatusChip.tsx'
import { Time } from '../ui/Time.tsx'
import { visible } from '../ui/visible.ts'

const refresh = () => queries.invalidateQueries({ queryKey: ['sandboxes'] })
type Verb = 'pause' | 'resume'

/** One sandbox: its status, who is in it, why it is as it is, and what one can do with it. */
export function Card({ of: one }: { of: Sandbox }) {
  const [asks, setAsks] = useState(false)
  const users = useQuery({
    queryKey: ['conversations', 'sandbox', one.id],
    queryFn: () => client.conversations.search({ query: { sandbox_id__eq: one.id, limit: 20 } }),
  })
  const conversations = users.data?.items ?? []
  return (
    <article className="card grid grid-cols-[minmax(0,1fr)] gap-2 p-4" aria-label={one.id}>
      <div className="flex flex-wrap items-center gap-x-3 gap-y-2">
        <SandboxChip status={one.status} />
        <span className="text-sm text-soft">
          {t('sandboxes.made')} <Time at={one.created_at} /> · {t('sandboxes.used')} <Time at={one.last_used_at} />
        </span>
        <Actions of={one} asks={asks} onAsk={() => setAsks(!asks)} />
      </div>
      {one.status_detail !== null && <p className="text-sm wrap-anywhere">{visible(one.status_detail)}</p>}
      {conversations.length > 0 && (
        <ul aria-label={t('sandboxes.conversations')} className="grid grid-cols-[minmax(0,1fr)] gap-1">
          {conversations.map((conversation) => (
            <Inside key={conversation.id} of={conversation} asks={asks} />
          ))}
        </ul>
      )}
      {asks && users.data !== undefined && conversations.length === 0 && (
        <p className="text-sm text-soft">{t('sandboxes.why.none')}</p>
      )}
      <div className="flex min-w-0 items-center gap-1 text-xs text-soft">
        <code className="min-w-0 truncate" title={one.id}>
          {one.id}
        </code>
        <CopyButton
          text={one.id}
          label={t('sandboxes.copy-id')}
          look="rounded px-1.5 py-1 whitespace-nowrap hover:bg-panel hover:text-ink"
        />
      </div>
    </article>
  )
}

function Actions({ of: one, asks, onAsk }: { of: Sandbox; asks: boolean; onAsk: () => void }) {
  const act = useMutation({
    mutationFn: (verb: Verb): Promise<unknown> => client.sandboxes[verb]({ params: { id: one.id } }),
    onSettled: refresh,
  })
  const button = (verb: Verb) =>
    sandboxAllows(one.status, verb) &&
    !(verb === 'pause' && one.status === 'PAUSED') && (
      <Button busy={act.isPending} onClick={() => act.mutate(verb)}>
        {t(`sandboxes.${verb}`)}
      </Button>
    )
  return (
    <div className="flex flex-wrap gap-2 sm:ml-auto">
      <Button kind="quiet" aria-expanded={asks} onClick={onAsk}>
        {t('sandboxes.why')}
      </Button>
      {button('pause')}
      {button('resume')}
      {sandboxAllows(one.status, 'delete') && one.status !== 'MISSING' && (
        <DeleteButton
          what={t('sandboxes.this')}
          warning={t('sandboxes.delete.warning')}
          onDelete={() => client.sandboxes.delete({ params: { id: one.id } }).then(refresh)}
        />
      )}
      <ErrorNote error={act.error} />
    </div>
  )
}

/** A conversation in the sandbox; asked, also what it is waiting for. */
function Inside({ of: one, asks }: { of: AppConversation; asks: boolean }) {
  return (
    <li>
      <div className="flex items-center gap-3">
        <Link
          to="/conversations/$id"
          params={{ id: one.id }}
          className="min-w-0 truncate text-sm text-accent hover:underline"
        >
          {visible(one.title ?? t('ui.untitled'))}
        </Link>
        <StatusChip of={one} />
      </div>
      {asks && <Why id={one.id} />}
    </li>
  )
}

function Why({ id }: { id: string }) {
  const found = useQuery({
    queryKey: ['why', id],
    queryFn: () => client.conversations.why({ params: { id } }),
    refetchInterval: 5000,
  })
  if (found.data === undefined) return <ErrorNote error={found.error} />
  const { detail, since, until, next } = found.data
  return (
    <p className="text-sm text-soft">
      {visible(detail)} <Time at={since} />
      {until !== null && next !== null && ` · ${t('sandboxes.until', { time: moment(until), next: visible(next) })}`}
    </p>
  )
}
