import type { WebhookDelivery } from '@parley/contract/webhook-subscriptions'
import { useMutation } from '@tanstack/react-query'
import { client, queries, usePages } from '../api.ts'
import { t } from '../i18n/translate.ts'
import { Button } from '../ui/Button.tsx'
import { ErrorNote } from '../ui/ErrorNote.tsx'
import { Loading } from '../ui/Loading.tsx'
import { Time } from '../ui/Time.tsx'
import { visible } from '../ui/visible.ts'

const looks: Record<WebhookDelivery['status'], string> = {
  pending: 'text-soft',
  delivered: 'text-good',
  failed: 'text-bad',
}

/** What was sent to an address, and sending it again. */
export function Deliveries({ id }: { id: string }) {
  const key = ['deliveries', id]
  const found = usePages(
    key,
    (page_id) => client.webhookSubscriptions.deliveries({ params: { id }, query: { page_id, limit: 20 } }),
    5000,
  )
  const replay = useMutation({
    mutationFn: (delivery_id: string) => client.webhookSubscriptions.replay({ params: { id, delivery_id } }),
    onSettled: () => queries.invalidateQueries({ queryKey: key }),
  })
  return (
    <div className="rounded-lg bg-panel p-3">
      <ErrorNote error={found.error ?? replay.error} />
      {found.isLoading && <Loading />}
      {!found.isLoading && found.items.length === 0 && (
        <p className="text-sm text-soft">{t('webhooks.deliveries.none')}</p>
      )}
      <ul className="grid gap-2">
        {found.items.map((one) => (
          <li key={one.id} className="flex flex-wrap items-center gap-x-3 text-sm">
            <span className={looks[one.status]}>{t(`webhooks.${one.status}`)}</span>
            <span>{one.type}</span>
            <span className="min-w-0 flex-1 truncate text-soft">
              {one.response_status ?? ''} {visible(one.error ?? '')}
            </span>
            <Time at={one.created_at} />
            <Button busy={replay.isPending && replay.variables === one.id} onClick={() => replay.mutate(one.id)}>
              {t('webhooks.replay')}
            </Button>
          </li>
        ))}
      </ul>
      {found.hasMore && (
        <Button className="mt-2" busy={found.isLoadingMore} onClick={found.more}>
          {t('ui.more')}
        </Button>
      )}
    </div>
  )
}
