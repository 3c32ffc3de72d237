import type { ModelTest } from '@parley/contract/models'
import { duration } from '../i18n/format.ts'
import type { Key } from '../i18n/message.ts'
import { t } from '../i18n/translate.ts'
import { ErrorNote } from '../ui/ErrorNote.tsx'
import { visible } from '../ui/visible.ts'

const advice: Readonly<Record<string, Key>> = {
  auth: 'tried.auth',
  quota: 'tried.quota',
  rate_limit: 'tried.rate_limit',
  overloaded: 'tried.overloaded',
  transient: 'tried.transient',
  timeout: 'tried.transient',
  bad_request: 'tried.bad_request',
  config: 'tried.config',
} satisfies Record<string, Extract<Key, `tried.${string}`>>

/** How the test of a model went: what it said, and what one can do. */
export function Tried({
  model,
  error,
  isPending,
}: {
  model: ModelTest | undefined
  error: unknown
  isPending: boolean
}) {
  const todo = model?.code && advice[model.code]
  return (
    <div role="status">
      {isPending && <p className="text-sm text-soft">{t('tried.asking')}</p>}
      <ErrorNote error={error} />
      {model?.ok === true && (
        <p className="rounded-lg bg-tint px-3 py-2 text-sm text-good">
          {t('tried.ok', { model: model.model, time: duration(model.latency_ms) })}
        </p>
      )}
      {model?.ok === false && (
        <div className="rounded-lg border border-bad bg-bad-tint px-3 py-2 text-sm">
          <p className="font-medium text-bad">{t('tried.failed', { model: model.model })}</p>
          <p className="wrap-anywhere whitespace-pre-wrap">{visible(model.detail ?? '')}</p>
          {todo && <p>{t(todo as 'tried.auth')}</p>}
        </div>
      )}
    </div>
  )
}
