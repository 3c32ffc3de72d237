import { useEffect, useState } from 'react'
import { Button } from './Button.tsx'

/** Copies `text`; says so for two seconds. Where the browser keeps the clipboard closed it says that too. */
export function CopyButton({ text, label = 'Copy' }: { text: string; label?: string }) {
  const [said, setSaid] = useState<string | null>(null)
  useEffect(() => {
    if (said === null) return
    const timer = setTimeout(() => setSaid(null), 2000)
    return () => clearTimeout(timer)
  }, [said])
  const copy = () =>
    navigator.clipboard.writeText(text).then(
      () => setSaid('Copied'),
      () => setSaid('Cannot copy here'),
    )
  return (
    <Button kind="quiet" onClick={() => void copy()}>
      <span aria-live="polite">{said ?? label}</span>
    </Button>
  )
}
