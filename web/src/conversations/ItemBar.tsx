import { Link } from '@tanstack/react-router'
import { t } from '../i18n/translate.ts'
import { CopyButton } from '../ui/CopyButton.tsx'
import { Time } from '../ui/Time.tsx'

/** The conversation that an item belongs to, where the reader may do something with it. */
export interface Own {
  id: string
  fork: (seq: number) => void
}

interface ItemBarProps {
  own: Own | null
  seq: number
  at: string
  /** What can be copied. */
  text?: string
  className?: string
}

const quiet = 'rounded px-1.5 py-1 hover:bg-panel hover:text-ink'

/** When it was, and what one can do with it. */
export function ItemBar({ own, seq, at, text, className = '' }: ItemBarProps) {
  return (
    <div className={`flex flex-wrap items-center gap-1 text-xs text-soft ${className}`}>
      <span className="px-1.5">
        <Time at={at} />
      </span>
      {text !== undefined && text !== '' && <CopyButton text={text} look={quiet} />}
      {own !== null && (
        <>
          <button type="button" className={quiet} onClick={() => own.fork(seq)}>
            {t('fork.here')}
          </button>
          <Link to="/conversations/$id" params={{ id: own.id }} search={{ tab: 'events', seq }} className={quiet}>
            {t('chat.event', { seq })}
          </Link>
        </>
      )}
    </div>
  )
}
