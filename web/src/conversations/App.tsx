import type { AppConversation } from '@parley/contract/conversations'
import type { ExposedUrl } from '@parley/contract/sandboxes'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { client } from '../api.ts'
import { t } from '../i18n/translate.ts'
import { Button, buttonClass } from '../ui/Button.tsx'
import { Empty } from '../ui/Empty.tsx'
import { ErrorNote } from '../ui/ErrorNote.tsx'
import { Loading } from '../ui/Loading.tsx'
import { visible } from '../ui/visible.ts'

/** What the agent's programs serve on the ports of the sandbox, in a frame that can do nothing to the page around it. */
export function App({ of: { sandbox_id } }: { of: AppConversation }) {
  const [port, setPort] = useState<number | null>(null)
  const [round, setRound] = useState(0)
  const found = useQuery({
    queryKey: ['sandbox', sandbox_id],
    queryFn: () => client.sandboxes.get({ params: { id: sandbox_id ?? '' } }),
    enabled: sandbox_id !== null,
    refetchInterval: 5000,
  })
  if (found.isLoading) return <Loading />
  if (found.data === undefined) return <ErrorNote error={found.error} />
  const served = found.data.exposed_urls ?? []
  const shown = served.find((one) => one.port === port) ?? served[0]
  if (shown === undefined) return <Empty icon="globe" text={t('app.none')} />
  return (
    <div className="flex h-full flex-col">
      <div className="flex flex-wrap items-center gap-2 border-b border-line p-2">
        <select
          aria-label={t('app.port')}
          className="field w-auto chosen"
          value={shown.port}
          onChange={(event) => setPort(Number(event.target.value))}
        >
          {served.map((one) => (
            <option key={one.port} value={one.port}>
              {visible(one.name)} · {one.port}
            </option>
          ))}
        </select>
        <Button kind="quiet" onClick={() => setRound(round + 1)}>
          {t('app.reload')}
        </Button>
        <a className={buttonClass('plain', 'ml-auto')} href={shown.url} target="_blank" rel="noopener noreferrer">
          {t('share.open')}
        </a>
      </div>
      <Frame key={`${shown.url} ${round}`} of={shown} />
    </div>
  )
}

const mayDo = 'allow-scripts allow-forms allow-popups allow-modals allow-downloads'

/** Where the address is a site of its own, what runs there keeps that site. Else it has none, and nothing of the page's. */
const limits = (url: string): string =>
  new URL(url, location.origin).origin === location.origin ? mayDo : `${mayDo} allow-same-origin`

const Frame = ({ of: { name, url } }: { of: ExposedUrl }) => (
  <iframe
    title={visible(name)}
    src={url}
    sandbox={limits(url)}
    referrerPolicy="no-referrer"
    className="min-h-0 w-full flex-1 bg-white scheme-light"
  />
)
