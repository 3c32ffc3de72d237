import type { AppConversation } from '@parley/contract/conversations'
import type { GitChange } from '@parley/contract/workspace'
import { useQuery } from '@tanstack/react-query'
import { lazy, Suspense, useState } from 'react'
import { client } from '../api.ts'
import { Button } from '../ui/Button.tsx'
import { CopyButton } from '../ui/CopyButton.tsx'
import { ErrorNote } from '../ui/ErrorNote.tsx'
import { Loading } from '../ui/Loading.tsx'
import { save } from '../ui/save.ts'
import { visible } from '../ui/visible.ts'
import { patchOf } from './patch.ts'

const TextDiff = lazy(() => import('./TextDiff.tsx').then(({ TextDiff: component }) => ({ default: component })))

const letters: Record<GitChange['status'], [string, string]> = {
  ADDED: ['A', 'text-good'],
  UPDATED: ['M', 'text-warn'],
  DELETED: ['D', 'text-bad'],
  MOVED: ['R', 'text-accent'],
}

const diffOf = (id: string, path: string) => client.conversations.gitDiff({ params: { id }, query: { path } })

async function wholePatch(id: string, changes: readonly GitChange[]): Promise<string> {
  const patches: string[] = []
  for (const { path } of changes) {
    const { original, modified } = await diffOf(id, path)
    patches.push(patchOf(path, original, modified))
  }
  return patches.join('')
}

/** The files that differ from where the work began. */
export function Changes({ of: { id, last_seq } }: { of: AppConversation }) {
  const [open, setOpen] = useState<string | null>(null)
  const [isSplit, setSplit] = useState(false)
  const found = useQuery({
    queryKey: ['changes', id, last_seq],
    queryFn: () => client.conversations.gitChanges({ params: { id } }),
    placeholderData: (last) => last,
  })
  const changes = found.data ?? []
  const shown = open ?? changes[0]?.path ?? null
  if (found.isLoading) return <Loading what="the changes" />
  if (found.error !== null && found.data === undefined)
    return (
      <div className="p-4">
        <ErrorNote error={found.error} />
      </div>
    )
  if (changes.length === 0) return <p className="p-4 text-soft">No file differs from where the work began.</p>
  return (
    <div>
      <div className="flex flex-wrap items-center gap-2 border-b border-line p-2">
        <span className="px-2 text-sm text-soft">
          {changes.length} {changes.length === 1 ? 'file' : 'files'}
        </span>
        <Button kind="quiet" aria-pressed={isSplit} onClick={() => setSplit(!isSplit)}>
          {isSplit ? 'Unified' : 'Side by side'}
        </Button>
        <Button kind="quiet" onClick={() => void wholePatch(id, changes).then((text) => save('changes.patch', text))}>
          Download patch
        </Button>
      </div>
      <ul className="border-b border-line p-2">
        {changes.map(({ path, status }) => (
          <li key={path}>
            <button
              type="button"
              aria-current={path === shown}
              onClick={() => setOpen(path)}
              className="flex min-h-9 w-full items-center gap-2 rounded-lg px-2 text-left text-sm hover:bg-panel aria-[current=true]:bg-tint"
            >
              <span className={`w-4 font-mono ${letters[status][1]}`} title={status.toLowerCase()}>
                {letters[status][0]}
              </span>
              <span className="truncate">{visible(path)}</span>
            </button>
          </li>
        ))}
      </ul>
      {shown !== null && <FileDiff key={shown} id={id} path={shown} seq={last_seq} isSplit={isSplit} />}
    </div>
  )
}

function FileDiff({ id, path, seq, isSplit }: { id: string; path: string; seq: number; isSplit: boolean }) {
  const found = useQuery({
    queryKey: ['diff', id, path, seq],
    queryFn: () => diffOf(id, path),
    placeholderData: (last) => last,
  })
  if (found.data === undefined)
    return found.error === null ? <Loading what="the file" /> : <ErrorNote error={found.error} />
  const { original, modified } = found.data
  return (
    <section aria-label={path}>
      <div className="flex items-center justify-between gap-2 px-4 py-1">
        <h2 className="truncate text-sm font-medium">{visible(path)}</h2>
        <CopyButton text={patchOf(path, original, modified)} label="Copy patch" />
      </div>
      <Suspense fallback={<Loading what="the differences" />}>
        <TextDiff path={path} original={original} modified={modified} isSplit={isSplit} />
      </Suspense>
    </section>
  )
}
