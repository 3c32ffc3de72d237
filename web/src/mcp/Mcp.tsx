import type { McpConfig } from '@parley/contract/mcp-config'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { t } from '../i18n/translate.ts'
import { settings, useSettingsChange } from '../settings/settings.ts'
import { Button } from '../ui/Button.tsx'
import { DeleteButton } from '../ui/DeleteButton.tsx'
import { ErrorNote } from '../ui/ErrorNote.tsx'
import { Loading } from '../ui/Loading.tsx'
import { Section } from '../ui/Section.tsx'
import { visible } from '../ui/visible.ts'
import { AddServer } from './AddServer.tsx'
import { type Entry, entriesOf, noServers, test, without } from './entries.ts'
import { Outcome } from './Outcome.tsx'

/** The servers that give the agent further tools. */
export function Mcp() {
  const stored = useQuery(settings)
  const [isOpen, setOpen] = useState(false)
  const change = useSettingsChange()
  if (stored.data === undefined) return stored.error === null ? <Loading /> : <ErrorNote error={stored.error} />
  const config = stored.data.mcp_config ?? noServers
  const entries = entriesOf(config)
  const put = (mcp_config: McpConfig) => change.mutateAsync({ mcp_config })
  return (
    <Section title={t('settings.mcp')} about={t('mcp.about')}>
      <div>
        <Button kind="primary" onClick={() => setOpen(true)}>
          {t('mcp.add')}
        </Button>
      </div>
      {entries.length === 0 && <p className="text-soft">{t('mcp.none')}</p>}
      {entries.length > 0 && (
        <ul className="divide-y divide-line">
          {entries.map((entry) => (
            <Row key={`${entry.kind} ${entry.at}`} entry={entry} onDelete={() => put(without(config, entry))} />
          ))}
        </ul>
      )}
      {isOpen && <AddServer config={config} onSave={put} onClose={() => setOpen(false)} />}
    </Section>
  )
}

function Row({ entry, onDelete }: { entry: Entry; onDelete: () => Promise<unknown> }) {
  const tried = useMutation({ mutationFn: () => test(entry) })
  return (
    <li className="grid gap-2 py-3">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-2">
        <div className="min-w-0 flex-1 basis-60">
          <p className="truncate font-medium">{visible(entry.name)}</p>
          <p className="truncate text-sm text-soft">
            {t(`mcp.kind.${entry.kind}`)}
            {entry.hasKey && ` · ${t('mcp.with-key')}`}
          </p>
        </div>
        {entry.kind !== 'stdio' && (
          <Button busy={tried.isPending} onClick={() => tried.mutate()}>
            {t('mcp.test')}
          </Button>
        )}
        <DeleteButton what={visible(entry.name)} warning={t('mcp.delete.warning')} onDelete={onDelete} />
      </div>
      {entry.kind === 'stdio' && <p className="text-sm text-soft">{t('mcp.stdio.test')}</p>}
      <Outcome tried={tried.data} error={tried.error} isPending={tried.isPending} />
    </li>
  )
}
