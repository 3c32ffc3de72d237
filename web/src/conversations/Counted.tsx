import { number } from '../i18n/format.ts'
import { t } from '../i18n/translate.ts'

interface CountedProps {
  of: { additions: number | null; deletions: number | null }
}

/** How many lines came and went; nothing where they were not counted. */
export function Counted({ of: { additions, deletions } }: CountedProps) {
  if (additions === null || deletions === null) return null
  return (
    <span className="font-mono text-xs whitespace-nowrap tabular-nums">
      <span className="sr-only">{t('changes.counts', { additions, deletions })}</span>
      <span aria-hidden>
        {(additions > 0 || deletions === 0) && <span className="text-good">+{number(additions)}</span>}
        {deletions > 0 && <span className="ml-1.5 text-bad">−{number(deletions)}</span>}
      </span>
    </span>
  )
}
