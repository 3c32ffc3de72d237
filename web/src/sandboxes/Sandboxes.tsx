import type { Sandbox } from '@parley/contract/sandboxes'
import { sandboxAllows } from '@parley/contract/sandboxes'
import { useMutation, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { client, queries, usePages } from '../api.ts'
import { Button } from '../ui/Button.tsx'
import { CopyButton } from '../ui/CopyButton.tsx'
import { DeleteButton } from '../ui/DeleteButton.tsx'
import { ErrorNote } from '../ui/ErrorNote.tsx'
import { Loading } from '../ui/Loading.tsx'
import { Page } from '../ui/Page.tsx'
import { SandboxChip } from '../ui/StatusChip.tsx'
import { Time } from '../ui/Time.tsx'
import { visible } from '../ui/visible.ts'

const key = ['sandboxes']
const refresh = () => queries.invalidateQueries({ queryKey: key })

/** The sandboxes of the person: what they do, who uses them, and stopping them. */
export function Sandboxes() {
  const found = usePages(key, (page_id) => client.sandboxes.search({ query: { page_id, limit: 50 } }), 3000)
  return (
    <Page title="Sandboxes">
      <ErrorNote error={found.error} />
      {found.isLoading && <Loading what="the sandboxes" />}
      {!found.isLoading && found.items.length === 0 && found.error === null && (
        <p className="text-soft">There is none. A conversation makes one when it starts.</p>
      )}
      <ul className="grid grid-cols-[minmax(0,1fr)] gap-3">
        {found.items.map((one) => (
          <li key={one.id}>
            <Card of={one} />
          </li>
        ))}
      </ul>
      {found.hasMore && (
        <Button className="mt-4" busy={found.isLoadingMore} onClick={found.more}>
          Show more
        </Button>
      )}
    </Page>
  )
}

type Verb = 'pause' | 'resume'

function Card({ of: one }: { of: Sandbox }) {
  const users = useQuery({
    queryKey: ['conversations', 'sandbox', one.id],
    queryFn: () => client.conversations.search({ query: { sandbox_id__eq: one.id, limit: 5 } }),
  })
  const act = useMutation({
    mutationFn: (verb: Verb): Promise<unknown> => client.sandboxes[verb]({ params: { id: one.id } }),
    onSettled: refresh,
  })
  const button = (verb: Verb, label: string) =>
    sandboxAllows(one.status, verb) &&
    !(verb === 'pause' && one.status === 'PAUSED') && (
      <Button busy={act.isPending} onClick={() => act.mutate(verb)}>
        {label}
      </Button>
    )
  return (
    <div className="card grid grid-cols-[minmax(0,1fr)] gap-2 p-4">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <SandboxChip status={one.status} />
        <code className="text-sm wrap-anywhere text-soft">{one.id}</code>
        <CopyButton text={one.id} label="Copy id" />
        <span className="ml-auto text-sm text-soft">
          used <Time at={one.last_used_at} />
        </span>
      </div>
      {one.status_detail !== null && <p className="text-sm wrap-anywhere">{visible(one.status_detail)}</p>}
      <ul className="text-sm">
        {users.data?.items.map(({ id, title }) => (
          <li key={id} className="truncate">
            <Link to="/conversations/$id" params={{ id }} className="text-accent hover:underline">
              {visible(title ?? 'Untitled conversation')}
            </Link>
          </li>
        ))}
      </ul>
      <ErrorNote error={act.error} />
      <div className="flex gap-2">
        {button('pause', 'Pause')}
        {button('resume', 'Resume')}
        {sandboxAllows(one.status, 'delete') && one.status !== 'MISSING' && (
          <DeleteButton
            what="this sandbox"
            warning="Its files go for good. Its conversations stay readable."
            onDelete={() => client.sandboxes.delete({ params: { id: one.id } }).then(refresh)}
          />
        )}
      </div>
    </div>
  )
}
