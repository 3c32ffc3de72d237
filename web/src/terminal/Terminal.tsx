import type { TerminalInput } from '@parley/contract/terminal'
import { useEffect, useRef, useState } from 'react'
import { client } from '../api.ts'
import { t } from '../i18n/translate.ts'
import { Button } from '../ui/Button.tsx'
import { ErrorNote } from '../ui/ErrorNote.tsx'
import { openScreen, type Screen } from './screen.ts'

interface Ended {
  /** Of the shell; null when it was killed. */
  code: number | null
  error: unknown
}

/** A shell in the sandbox of the conversation, as long as the page shows the conversation. */
export function Terminal({ id }: { id: string }) {
  const box = useRef<HTMLDivElement>(null)
  const [round, setRound] = useState(0)
  const [ended, setEnded] = useState<Ended | null>(null)
  useEffect(() => {
    if (box.current === null) return
    const screen = openScreen(box.current)
    const stop = new AbortController()
    setEnded(null)
    run(id, screen, stop.signal).then(
      (code) => stop.signal.aborted || setEnded({ code, error: null }),
      (error: unknown) => stop.signal.aborted || setEnded({ code: null, error }),
    )
    const watch = new ResizeObserver(() => screen.fit())
    watch.observe(box.current)
    return () => {
      watch.disconnect()
      stop.abort()
      screen.close()
    }
  }, [id, round])
  return (
    <section aria-label={t('chat.tab.terminal')} className="flex h-full flex-col">
      {ended !== null && (
        <div className="flex flex-wrap items-center gap-2 border-b border-line p-2">
          {ended.error === null ? (
            <p role="status" className="px-2 text-sm text-soft">
              {ended.code === null ? t('terminal.killed') : t('terminal.ended', { code: ended.code })}
            </p>
          ) : (
            <ErrorNote error={ended.error} />
          )}
          <Button onClick={() => setRound(round + 1)}>{t('terminal.again')}</Button>
        </div>
      )}
      <div ref={box} className="min-h-0 flex-1 overflow-hidden p-2" />
    </section>
  )
}

/** The exit code of the shell. */
async function run(id: string, { terminal, fit }: Screen, signal: AbortSignal): Promise<number | null> {
  fit()
  const line = await client.conversations.terminal(
    { params: { id }, query: { columns: terminal.cols, rows: terminal.rows } },
    { signal },
  )
  const say = (input: TerminalInput) => line.send(input)
  // The schema takes so much in one frame; a large paste goes in several.
  terminal.onData((data) =>
    (data.match(/[\s\S]{1,16384}/g) ?? []).forEach((part) => say({ type: 'input', data: part })),
  )
  terminal.onResize(({ cols, rows }) => say({ type: 'resize', columns: cols, rows }))
  terminal.focus()
  for await (const said of line.messages) {
    if (said.type === 'exit') return said.code
    const characters = said.data.length
    terminal.write(said.data, () => say({ type: 'drawn', characters }))
  }
  return null
}
