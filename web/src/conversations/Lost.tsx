import { useEffect, useState } from 'react'
import { duration } from '../i18n/format.ts'
import { t } from '../i18n/translate.ts'

/** That what is shown may be old. Silent for a second, so that a connection that comes back at once is not noticed. */
export function Lost({ since }: { since: number }) {
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 500)
    return () => clearInterval(timer)
  }, [])
  if (now - since < 1000) return null
  return (
    <p role="status" className="bg-warn-tint px-4 py-1.5 text-center text-sm text-warn">
      {t('chat.not-connected', { time: duration(Math.floor((now - since) / 1000) * 1000) })}
    </p>
  )
}
