import type { AppConversation } from '@parley/contract/conversations'
import { executionStatuses } from '@parley/contract/execution'
import { triggers } from '@parley/contract/start-request'
import { useMutation } from '@tanstack/react-query'
import { type ChangeEvent, useDeferredValue, useId, useState } from 'react'
import { client, queries, usePages } from '../api.ts'
import { t } from '../i18n/translate.ts'
import { Button } from '../ui/Button.tsx'
import { Dialog } from '../ui/Dialog.tsx'
import { Empty } from '../ui/Empty.tsx'
import { ErrorNote } from '../ui/ErrorNote.tsx'
import { Loading } from '../ui/Loading.tsx'
import { Page } from '../ui/Page.tsx'
import { everything, type Filter, queryOf } from './filters.ts'
import { Row } from './Row.tsx'
import { linesOfTags } from './tag-lines.ts'

/** All conversations of the person: found by title, status, origin, repository and label; deleted one by one or many at once. */
export function List() {
  const [filter, setFilter] = useState(everything)
  const [marked, setMarked] = useState<ReadonlySet<string>>(new Set())
  const [asks, setAsks] = useState(false)
  const asked = queryOf(useDeferredValue(filter))
  const found = usePages(
    ['conversations', 'list', asked],
    (page_id) => client.conversations.search({ query: { page_id, limit: 50, ...asked } }),
    4000,
  )
  const shown = found.items.filter(({ id }) => marked.has(id))
  const mark = (id: string, isMarked: boolean) =>
    setMarked((before) => new Set(isMarked ? [...before, id] : [...before].filter((one) => one !== id)))
  return (
    <Page
      title={t('shell.conversations')}
      actions={
        shown.length > 0 && (
          <Button kind="danger" onClick={() => setAsks(true)}>
            {t('list.delete', { count: shown.length })}
          </Button>
        )
      }
    >
      <Filters filter={filter} onChange={setFilter} found={found.items} />
      <ErrorNote error={found.error} />
      {found.isLoading && <Loading />}
      {!found.isLoading && found.items.length === 0 && found.error === null && (
        <Empty icon="chat" text={t('list.none')} />
      )}
      {found.items.length > 0 && (
        <ul className="card divide-y divide-line">
          {found.items.map((one) => (
            <li key={one.id} className="flex items-center">
              <label className="grid min-h-11 place-items-center self-stretch pl-4">
                <span className="sr-only">{t('list.mark', { title: one.title ?? t('ui.untitled') })}</span>
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
          {t('ui.more')}
        </Button>
      )}
      {asks && <DeleteThese ids={shown.map(({ id }) => id)} onClose={() => setAsks(false)} />}
    </Page>
  )
}

interface FiltersProps {
  filter: Filter
  onChange: (filter: Filter) => void
  /** What is listed: its repositories and labels are offered. */
  found: readonly AppConversation[]
}

function Filters({ filter, onChange, found }: FiltersProps) {
  const id = useId()
  const put = (name: keyof Filter) => (event: ChangeEvent<HTMLInputElement | HTMLSelectElement>) =>
    onChange({ ...filter, [name]: event.target.value })
  const select = (name: 'status' | 'trigger', label: string, values: readonly string[]) => (
    <select aria-label={label} className="field chosen" value={filter[name]} onChange={put(name)}>
      <option value="">{t('list.any', { name: label })}</option>
      {values.map((value) => (
        <option key={value} value={value}>
          {name === 'status' ? statusWord(value) : value.replaceAll('_', ' ')}
        </option>
      ))}
    </select>
  )
  const text = (name: 'repository' | 'tag', label: string, offered: readonly string[]) => (
    <div>
      <input
        aria-label={label}
        placeholder={label}
        className="field"
        maxLength={321}
        list={`${id}-${name}`}
        value={filter[name]}
        onChange={put(name)}
      />
      <datalist id={`${id}-${name}`}>
        {[...new Set(offered)].map((value) => (
          <option key={value} value={value} />
        ))}
      </datalist>
    </div>
  )
  return (
    <search className="mb-4 grid grid-cols-2 gap-2 sm:grid-cols-4">
      <input
        type="search"
        aria-label={t('list.search')}
        placeholder={t('list.search')}
        className="field col-span-2 sm:col-span-4"
        maxLength={200}
        value={filter.title}
        onChange={put('title')}
      />
      {select('status', t('list.status'), executionStatuses)}
      {select('trigger', t('list.trigger'), triggers)}
      {text(
        'repository',
        t('list.repository'),
        found.flatMap((one) => one.selected_repository ?? []),
      )}
      {text('tag', t('list.tag'), found.flatMap(({ tags }) => linesOfTags(tags).split('\n')).filter(Boolean))}
    </search>
  )
}

const statusWord = (status: string): string => {
  const known = executionStatuses.find((one) => one === status)
  return known === undefined ? status : t(`status.${known}`)
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
    <Dialog title={t('list.delete.ask', { count: ids.length })} onClose={onClose}>
      <p>{t('list.delete.about')}</p>
      <ErrorNote error={remove.error} />
      <div className="mt-4 flex justify-end gap-2">
        <Button onClick={onClose}>{t('ui.keep')}</Button>
        <Button kind="danger" busy={remove.isPending} onClick={() => remove.mutate()}>
          {t('ui.delete')}
        </Button>
      </div>
    </Dialog>
  )
}
