import { Problem, type ProblemCode } from '@parley/contract/problems'
import type { ReactNode } from 'react'
import type { Key } from '../i18n/message.ts'
import { t } from '../i18n/translate.ts'

type Advice = Extract<Key, `advice.${string}`>

const advice: Partial<Record<ProblemCode, Advice>> = {
  unavailable: 'advice.unavailable',
  upstream_timeout: 'advice.upstream_timeout',
  forge_not_connected: 'advice.forge_not_connected',
  forge_token_rejected: 'advice.forge_token_rejected',
  repository_not_accessible: 'advice.repository_not_accessible',
  capacity: 'advice.capacity',
  internal_error: 'advice.internal_error',
  quota_exceeded: 'advice.quota_exceeded',
  insufficient_scope: 'advice.insufficient_scope',
  sandbox_error: 'advice.sandbox_error',
  storage_full: 'advice.storage_full',
}

/** What failed, and what one can do about it. */
export function ErrorNote({ error, children }: { error: unknown; children?: ReactNode }) {
  if (error === null || error === undefined) return null
  const code = error instanceof Problem ? error.code : undefined
  const request = error instanceof Problem ? error.extra.members?.['request_id'] : undefined
  const todo = code === undefined ? undefined : advice[code]
  return (
    <div role="alert" className="rounded-lg border border-bad bg-bad-tint px-3 py-2 text-sm">
      <p className="font-medium wrap-anywhere whitespace-pre-wrap text-bad">
        {error instanceof Error ? error.message : String(error)}
      </p>
      {fieldsOf(error).map((line) => (
        <p key={line}>{line}</p>
      ))}
      {todo !== undefined && <p>{t(todo)}</p>}
      {typeof request === 'string' && <p className="text-soft">{t('ui.request', { id: request })}</p>}
      {children}
    </div>
  )
}

/** What is wrong field by field, where the problem as a whole does not say it already. */
function fieldsOf(error: unknown): string[] {
  if (!(error instanceof Problem)) return []
  const unsaid = (error.extra.errors ?? []).filter(({ msg }) => !error.message.includes(msg))
  return unsaid.map(({ loc, msg }) => `${loc.slice(1).join(' ')}: ${msg}`)
}
