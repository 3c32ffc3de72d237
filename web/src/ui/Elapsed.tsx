import { useEffect, useState } from 'react'
import { duration } from '../i18n/format.ts'

/** How long something has been going on, in whole seconds, while it goes on. */
export function Elapsed({ since }: { since: string | number }) {
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1000)
    return () => clearInterval(timer)
  }, [])
  const began = typeof since === 'string' ? Date.parse(since) : since
  const seconds = Math.max(0, Math.floor((now - began) / 1000))
  return <span className="whitespace-nowrap tabular-nums">{seconds < 1 ? '' : duration(seconds * 1000)}</span>
}
