import { executionStatuses } from '@parley/contract/execution'
import { triggers } from '@parley/contract/start-request'
import { useMutation } from '@tanstack/react-query'
import { useDeferredValue, useState } from 'react'
import { client, queries, usePages } from '../api.ts'
import { Button } from '../ui/Button.tsx'
import { Dialog } from '../ui/Dialog.tsx'
import { ErrorNote } from '../ui/ErrorNote.tsx'
import { Loading } from '../ui/Loading.tsx'
import { Page } from '../ui/Page.tsx'
import { Row } from './Row.tsx'

interface Filter {
  title: string
  status: string
  trigger: string
}

/** Only what is set: an empty filter is none. */
const queryOf = ({ title, status, trigger }: Filter) => ({
  ...(title === '' ? {} : { title__contains: title }),
  ...(status === '' ? {} : { execution_status__eq: status as (typeof executionStatuses)[number] }),
  ...(trigger === '' ? {} : { trigger__eq: trigger as (typeof triggers)[number] }),
})

/** All conversations of the person: found by title, status and origin; deleted one by one or many at once. */
export function List() {
  const [filter, setFilter] = useState<Filter>({ title: '', status: '', trigger: '' })
  const [marked, setMarked] = useState<ReadonlySet<string>>(new Set())
  const [asks, setAsks] = useState(false)
  const asked = useDeferredValue({ ...filter, title: filter.title.trim() })
  const found = usePages(
    ['conversations', 'list', asked.title, asked.status, asked.trigger],
    (page_id) => client.conversations.search({ query: { page_id, limit: 50, ...queryOf(asked) } }),
    4000,
  )
  const shown = found.items.filter(({ id }) => marked.has(id))
  const mark = (id: string, isMarked: boolean) =>
    setMarked((before) => new Set(isMarked ? [...before, id] : [...before].filter((one) => one !== id)))
  return (
    <Page
      title="Conversations"
      actions={
        shown.length > 0 && (
          <Button kind="danger" onClick={() => setAsks(true)}>
            Delete {shown.length}
          </Button>
        )
      }
    >
      <Filters filter={filter} onChange={setFilter} />
      <ErrorNote error={found.error} />
      {found.isLoading && <Loading what="conversations" />}
      {!found.isLoading && found.items.length === 0 && found.error === null && (
        <p className="p-2 text-soft">No conversation fits.</p>
      )}
      {found.items.length > 0 && (
        <ul className="card divide-y divide-line">
          {found.items.map((one) => (
            <li key={one.id} className="flex items-center">
              <label className="grid min-h-11 place-items-center self-stretch pl-4">
                <span className="sr-only">Mark {one.title ?? 'Untitled conversation'}</span>
                <input
                  type="checkbox"
                  checked={marked.has(one.id)}
                  onChange={(event) => mark(one.id, event.target.checked)}
                />
              </label>
              <Row of={one} />
            </li>
          ))}
        </ul>
      )}
      {found.hasMore && (
        <Button className="mt-4" busy={found.isLoadingMore} onClick={found.more}>
          Show more
        </Button>
      )}
      {asks && <DeleteThese ids={shown.map(({ id }) => id)} onClose={() => setAsks(false)} />}
    </Page>
  )
}

function Filters({ filter, onChange }: { filter: Filter; onChange: (filter: Filter) => void }) {
  const select = (name: 'status' | 'trigger', label: string, values: readonly string[]) => (
    <select
      aria-label={label}
      className="field w-auto"
      value={filter[name]}
      onChange={(event) => onChange({ ...filter, [name]: event.target.value })}
    >
      <option value="">{label}: any</option>
      {values.map((value) => (
        <option key={value} value={value}>
          {value.replaceAll('_', ' ')}
        </option>
      ))}
    </select>
  )
  return (
    <search className="mb-4 flex flex-wrap gap-2">
      <input
        type="search"
        aria-label="Search by title"
        placeholder="Search by title"
        className="field w-auto min-w-40 flex-1"
        maxLength={200}
        value={filter.title}
        onChange={(event) => onChange({ ...filter, title: event.target.value })}
      />
      {select('status', 'Status', executionStatuses)}
      {select('trigger', 'Started by', triggers)}
    </search>
  )
}

function DeleteThese({ ids, onClose }: { ids: string[]; onClose: () => void }) {
  const remove = useMutation({
    mutationFn: async () => {
      for (const id of ids) await client.conversations.delete({ params: { id } })
    },
    onSuccess: onClose,
    onSettled: () => queries.invalidateQueries({ queryKey: ['conversations'] }),
  })
  return (
    <Dialog
      title={ids.length === 1 ? 'Delete this conversation?' : `Delete ${ids.length} conversations?`}
      onClose={onClose}
    >
      <p>Their events, tasks and sandboxes go too. This cannot be undone.</p>
      <ErrorNote error={remove.error} />
      <div className="mt-4 flex justify-end gap-2">
        <Button onClick={onClose}>Keep</Button>
        <Button kind="danger" busy={remove.isPending} onClick={() => remove.mutate()}>
          Delete
        </Button>
      </div>
    </Dialog>
  )
}
