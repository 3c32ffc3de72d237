const steps: [Intl.RelativeTimeFormatUnit, number][] = [
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
]
const words = new Intl.RelativeTimeFormat(undefined, { numeric: 'auto', style: 'narrow' })
const exact = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' })

function ago(at: string): string {
  const seconds = (Date.parse(at) - Date.now()) / 1000
  const step = steps.find(([, size]) => Math.abs(seconds) >= size)
  return step === undefined ? 'now' : words.format(Math.round(seconds / step[1]), step[0])
}

/** When something was, as one says it; the exact time on hover. */
export function Time({ at }: { at: string }) {
  return (
    <time dateTime={at} title={exact.format(new Date(at))} className="whitespace-nowrap">
      {ago(at)}
    </time>
  )
}

/** 840 ms, 3.2 s, 2 min 5 s. */
export function duration(ms: number): string {
  if (ms < 1000) return `${Math.max(0, Math.round(ms))} ms`
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`
  return `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1000)} s`
}
