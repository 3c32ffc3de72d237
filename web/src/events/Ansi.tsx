import Anser from 'anser'
import { useMemo } from 'react'
import { terminalText } from '../ui/visible.ts'

/** What a command printed, with its colours and without anything else a terminal could be made to do. */
export function Ansi({ text }: { text: string }) {
  const parts = useMemo(
    () => Anser.ansiToJson(terminalText(text), { json: true, use_classes: true, remove_empty: true }),
    [text],
  )
  return (
    <pre
      className="max-h-96 overflow-auto p-3 font-mono text-[0.8125rem] wrap-anywhere whitespace-pre-wrap"
      tabIndex={0}
    >
      {parts.map((part, index) => {
        const look = [part.fg ? `${part.fg}-fg` : '', ...part.decorations.map((one) => `ansi-${one}`)].join(' ').trim()
        // Output only grows at its end, so a place is a name.
        return look === '' ? (
          part.content
        ) : (
          <span key={index} className={look}>
            {part.content}
          </span>
        )
      })}
    </pre>
  )
}
