import { useEffect, useState } from 'react'
import { t } from '../i18n/translate.ts'
import { buttonClass } from './Button.tsx'

interface CopyButtonProps {
  text: string
  label?: string
  /** Classes, where it shall not look like a button. */
  look?: string
}

/** Copies `text`; says so for two seconds. Where the browser keeps the clipboard closed it says that too. */
export function CopyButton({ text, label = t('ui.copy'), look = buttonClass('quiet') }: CopyButtonProps) {
  const [said, setSaid] = useState<string | null>(null)
  useEffect(() => {
    if (said === null) return
    const timer = setTimeout(() => setSaid(null), 2000)
    return () => clearTimeout(timer)
  }, [said])
  const copy = () =>
    navigator.clipboard.writeText(text).then(
      () => setSaid(t('ui.copied')),
      () => setSaid(t('ui.copy.refused')),
    )
  return (
    <button type="button" className={look} onClick={() => void copy()}>
      <span aria-live="polite">{said ?? label}</span>
    </button>
  )
}
