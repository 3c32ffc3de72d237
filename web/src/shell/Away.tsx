import { useQuery } from '@tanstack/react-query'
import { isAway } from '../api.ts'
import { t } from '../i18n/translate.ts'
import { latest } from './attention.ts'

/** While the server does not answer: says so over the page, without moving it. */
export function Away() {
  const { error, failureReason } = useQuery(latest)
  const away = isAway(error) || isAway(failureReason)
  return (
    <div role="status" className="pointer-events-none fixed inset-x-0 bottom-4 z-30 flex justify-center px-4">
      {away && (
        <p className="rounded-lg border border-warn bg-warn-tint px-4 py-2 text-sm text-warn shadow-lg">
          {t('shell.away')}
        </p>
      )}
    </div>
  )
}
