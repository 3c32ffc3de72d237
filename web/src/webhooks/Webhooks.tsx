import type { WebhookSubscription } from '@parley/contract/webhook-subscriptions'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { client, queries } from '../api.ts'
import { t } from '../i18n/translate.ts'
import { Button } from '../ui/Button.tsx'
import { DeleteButton } from '../ui/DeleteButton.tsx'
import { Dialog } from '../ui/Dialog.tsx'
import { ErrorNote } from '../ui/ErrorNote.tsx'
import { Loading } from '../ui/Loading.tsx'
import { Section } from '../ui/Section.tsx'
import { ShownOnce } from '../ui/ShownOnce.tsx'
import { Chip } from '../ui/StatusChip.tsx'
import { visible } from '../ui/visible.ts'
import { Deliveries } from './Deliveries.tsx'
import { NewWebhook } from './NewWebhook.tsx'

const key = ['webhooks']
const refresh = () => queries.invalidateQueries({ queryKey: key })

/** Addresses that Parley calls when something happens. */
export function Webhooks() {
  const [isOpen, setOpen] = useState(false)
  const found = useQuery({
    queryKey: key,
    queryFn: () => client.webhookSubscriptions.search({ query: { limit: 100 } }),
  })
  const close = () => {
    setOpen(false)
    void refresh()
  }
  return (
    <Section title={t('settings.webhooks')} about={t('webhooks.about')}>
      <div>
        <Button kind="primary" onClick={() => setOpen(true)}>
          {t('webhooks.add')}
        </Button>
      </div>
      <ErrorNote error={found.error} />
      {found.isLoading && <Loading />}
      {found.data?.items.length === 0 && <p className="text-soft">{t('webhooks.none')}</p>}
      <ul className="divide-y divide-line">
        {found.data?.items.map((one) => (
          <Row key={one.id} of={one} />
        ))}
      </ul>
      {isOpen && <NewWebhook onClose={close} />}
    </Section>
  )
}

function Row({ of: one }: { of: WebhookSubscription }) {
  const params = { id: one.id }
  const [isOpen, setOpen] = useState(false)
  const change = useMutation({
    mutationFn: (enabled: boolean) => client.webhookSubscriptions.update({ params, body: { enabled } }),
    onSettled: refresh,
  })
  const rotate = useMutation({ mutationFn: () => client.webhookSubscriptions.rotate({ params }) })
  const name = visible(one.name ?? one.url)
  return (
    <li className="grid gap-2 py-3">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <span className="font-medium wrap-anywhere">{name}</span>
        <Chip
          text={one.enabled ? t('webhooks.on') : t('webhooks.off')}
          tone={one.enabled ? 'good' : one.paused_reason === null ? 'calm' : 'asks'}
        />
      </div>
      {one.name !== null && <p className="text-sm wrap-anywhere text-soft">{visible(one.url)}</p>}
      <p className="text-sm wrap-anywhere text-soft">{one.types.join(', ')}</p>
      {one.paused_reason !== null && <p className="text-sm text-warn">{visible(one.paused_reason)}</p>}
      <ErrorNote error={change.error ?? rotate.error} />
      <div className="flex flex-wrap gap-2">
        <Button busy={change.isPending} onClick={() => change.mutate(!one.enabled)}>
          {one.enabled ? t('webhooks.disable') : t('webhooks.enable')}
        </Button>
        <Button aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {t('webhooks.deliveries')}
        </Button>
        <Button busy={rotate.isPending} onClick={() => rotate.mutate()}>
          {t('webhooks.rotate')}
        </Button>
        <DeleteButton
          what={name}
          warning={t('webhooks.delete.warning')}
          onDelete={() => client.webhookSubscriptions.delete({ params }).then(refresh)}
        />
      </div>
      {isOpen && <Deliveries id={one.id} />}
      {rotate.data !== undefined && (
        <Dialog title={t('webhooks.secret')} onClose={() => rotate.reset()}>
          <ShownOnce text={rotate.data.secret} about={t('webhooks.secret.about')} onClose={() => rotate.reset()} />
        </Dialog>
      )}
    </li>
  )
}
