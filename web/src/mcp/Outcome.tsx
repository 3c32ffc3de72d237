import type { McpTest } from '@parley/contract/mcp-config'
import { t } from '../i18n/translate.ts'
import { ErrorNote } from '../ui/ErrorNote.tsx'
import { visible } from '../ui/visible.ts'

/** How the test of a server went: its tools, or the reason. */
export function Outcome({
  tried,
  error,
  isPending,
}: {
  tried: McpTest | undefined
  error: unknown
  isPending: boolean
}) {
  return (
    <div role="status">
      {isPending && <p className="text-sm text-soft">{t('mcp.asking')}</p>}
      <ErrorNote error={error} />
      {tried?.ok === true && (
        <div className="rounded-lg bg-tint px-3 py-2 text-sm">
          <p className="font-medium text-good">{t('mcp.ok', { count: tried.tools.length })}</p>
          <p className="wrap-anywhere text-soft">{visible(tried.tools.join(', '))}</p>
        </div>
      )}
      {tried?.ok === false && (
        <div className="rounded-lg border border-bad bg-bad-tint px-3 py-2 text-sm">
          <p className="font-medium text-bad">{t('mcp.failed')}</p>
          <p className="wrap-anywhere whitespace-pre-wrap">{visible(tried.detail ?? '')}</p>
          <p>{t('mcp.failed.todo')}</p>
        </div>
      )}
    </div>
  )
}
