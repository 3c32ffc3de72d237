import { type SandboxStatus, sandboxStatuses } from '@parley/contract/sandboxes'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { client, usePages } from '../api.ts'
import { t } from '../i18n/translate.ts'
import { Button } from '../ui/Button.tsx'
import { Empty } from '../ui/Empty.tsx'
import { ErrorNote } from '../ui/ErrorNote.tsx'
import { Loading } from '../ui/Loading.tsx'
import { Page } from '../ui/Page.tsx'
import { Card } from './Card.tsx'

/** The sandboxes of the person: what they do, who uses them, and stopping them. */
export function Sandboxes() {
  const [status, setStatus] = useState<SandboxStatus | undefined>()
  const found = usePages(
    ['sandboxes', status],
    (page_id) => client.sandboxes.search({ query: { page_id, limit: 50, status__eq: status } }),
    3000,
  )
  const filter = (
    <select
      aria-label={t('sandboxes.status')}
      className="field w-auto chosen"
      value={status ?? ''}
      onChange={({ target }) => setStatus(sandboxStatuses.find((one) => one === target.value))}
    >
      <option value="">{t('sandboxes.all')}</option>
      {sandboxStatuses.map((one) => (
        <option key={one} value={one}>
          {t(`status.${one}`)}
        </option>
      ))}
    </select>
  )
  return (
    <Page title={t('shell.sandboxes')} actions={filter}>
      <Shares />
      <ErrorNote error={found.error} />
      {found.isLoading && <Loading />}
      {!found.isLoading && found.items.length === 0 && found.error === null && (
        <Empty icon="box" text={status === undefined ? t('sandboxes.none') : t('ui.nothing-found')} />
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
          {t('ui.more')}
        </Button>
      )}
    </Page>
  )
}

/** What each sandbox may use, as the operator has bounded it. */
function Shares() {
  const found = useQuery({ queryKey: ['limits'], queryFn: () => client.health.limits(), staleTime: Infinity })
  const limit = (name: string) => found.data?.find((one) => one.name === name)?.value ?? ''
  const idle = limit('sandboxes.idle_pause')
  const parts = [
    t('sandboxes.cpu', { count: limit('sandbox.cpu') }),
    t('sandboxes.memory', { amount: limit('sandbox.memory') }),
    t('sandboxes.disk', { amount: limit('sandbox.disk') }),
    t('sandboxes.processes', { count: limit('sandbox.processes') }),
    ...(idle === 'never' ? [] : [t('sandboxes.idle', { time: idle })]),
  ]
  return (
    <p className="mb-4 min-h-6 text-sm text-soft">
      {found.data !== undefined && `${t('sandboxes.shares')}: ${parts.join(' · ')}`}
    </p>
  )
}
