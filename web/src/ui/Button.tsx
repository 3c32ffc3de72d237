import type { ButtonHTMLAttributes } from 'react'

const kinds = {
  primary: 'bg-accent text-accent-ink hover:opacity-90',
  plain: 'border border-line bg-raised text-ink shadow-xs hover:border-edge hover:bg-panel',
  quiet: 'text-soft hover:bg-panel hover:text-ink',
  danger: 'border border-line text-bad hover:border-bad hover:bg-bad-tint',
}

export const buttonClass = (kind: keyof typeof kinds, more = ''): string =>
  `inline-flex min-h-9 items-center justify-center gap-1.5 rounded-lg px-3 py-1.5 text-sm font-medium whitespace-nowrap disabled:opacity-50 ${kinds[kind]} ${more}`

export interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  kind?: keyof typeof kinds
  /** While it works it cannot be pressed again. */
  busy?: boolean
}

export function Button({ kind = 'plain', busy = false, className = '', disabled, type, ...rest }: ButtonProps) {
  return (
    <button
      {...rest}
      type={type ?? 'button'}
      disabled={disabled === true || busy}
      aria-busy={busy || undefined}
      className={buttonClass(kind, className)}
    />
  )
}
