import type { AppConversation } from '@parley/contract/conversations'
import type { GitChange } from '@parley/contract/workspace'
import { useMutation, useQuery } from '@tanstack/react-query'
import { lazy, Suspense, useState } from 'react'
import { client } from '../api.ts'
import { t } from '../i18n/translate.ts'
import { Button, buttonClass } from '../ui/Button.tsx'
import { CopyButton } from '../ui/CopyButton.tsx'
import { Empty } from '../ui/Empty.tsx'
import { ErrorNote } from '../ui/ErrorNote.tsx'
import { Icon } from '../ui/Icon.tsx'
import { Loading } from '../ui/Loading.tsx'
import { save } from '../ui/save.ts'
import { Segments } from '../ui/Segments.tsx'
import { visible } from '../ui/visible.ts'
import { countsOf, shownIn, treeOf } from './change-tree.ts'
import { ChangeTree } from './ChangeTree.tsx'
import { Counted } from './Counted.tsx'
import { patchOf } from './patch.ts'
import { Unreachable } from './Unreachable.tsx'

const TextDiff = lazy(() => import('./TextDiff.tsx').then(({ TextDiff: component }) => ({ default: component })))

const views = ['unified', 'split'] as const
type View = (typeof views)[number]
const viewKey = 'parley.diff'

const diffOf = (id: string, path: string) => client.conversations.gitDiff({ params: { id }, query: { path } })

async function wholePatch(id: string, changes: readonly GitChange[]): Promise<string> {
  const patches: string[] = []
  for (const { path } of changes) {
    const { original, modified } = await diffOf(id, path)
    patches.push(patchOf(path, original, modified))
  }
  return patches.join('')
}

/** The uppermost file of the tree. */
const firstOf = (changes: readonly GitChange[]): string | null =>
  shownIn(treeOf(changes), new Set()).find(({ kind }) => kind === 'file')?.path ?? null

/** The files that differ from where the work began. */
export function Changes({ of: one }: { of: AppConversation }) {
  const { id, last_seq } = one
  const [open, setOpen] = useState<string | null>(null)
  const [view, setView] = useState<View>(() => (localStorage.getItem(viewKey) === 'split' ? 'split' : 'unified'))
  const found = useQuery({
    queryKey: ['changes', id, last_seq],
    queryFn: () => client.conversations.gitChanges({ params: { id } }),
    placeholderData: (last) => last,
  })
  const changes = found.data ?? []
  const shown = changes.find(({ path }) => path === open)?.path ?? firstOf(changes)
  if (found.isLoading) return <Loading />
  if (found.data === undefined) return <Unreachable of={one} error={found.error} />
  if (changes.length === 0) return <Empty icon="diff" text={t('changes.none')} />
  const choose = (chosen: View) => {
    localStorage.setItem(viewKey, chosen)
    setView(chosen)
  }
  return (
    <div className="flex h-full flex-col">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1 border-b border-line px-3 py-1.5">
        <span className="text-sm font-medium">{t('changes.files', { count: changes.length })}</span>
        <Counted of={countsOf(changes)} />
        <span className="flex-1" />
        <Segments
          label={t('changes.view')}
          value={view}
          choices={views.map((value) => ({ value, label: t(`changes.${value}`) }))}
          onChoose={choose}
        />
        <WholePatch id={id} changes={changes} />
      </div>
      <div className="max-h-[40%] shrink-0 overflow-y-auto border-b border-line">
        <ChangeTree changes={changes} shown={shown} onShow={setOpen} />
      </div>
      <div className="min-h-0 flex-1 overflow-y-auto">
        {shown !== null && <FileDiff key={shown} id={id} path={shown} seq={last_seq} isSplit={view === 'split'} />}
      </div>
    </div>
  )
}

function WholePatch({ id, changes }: { id: string; changes: readonly GitChange[] }) {
  const take = useMutation({
    mutationFn: () => wholePatch(id, changes),
    onSuccess: (text) => save('changes.patch', text),
  })
  return (
    <>
      <Button
        kind="quiet"
        className="px-2!"
        aria-label={t('changes.download')}
        title={t('changes.download')}
        busy={take.isPending}
        onClick={() => take.mutate()}
      >
        <Icon name="download" />
      </Button>
      <ErrorNote error={take.error} />
    </>
  )
}

function FileDiff({ id, path, seq, isSplit }: { id: string; path: string; seq: number; isSplit: boolean }) {
  const found = useQuery({
    queryKey: ['diff', id, path, seq],
    queryFn: () => diffOf(id, path),
    placeholderData: (last) => last,
  })
  if (found.data === undefined) return found.error === null ? <Loading /> : <ErrorNote error={found.error} />
  const { original, modified } = found.data
  return (
    <section aria-label={path}>
      <div className="sticky top-0 flex items-center justify-between gap-2 border-b border-line bg-page px-3 py-1">
        <h2 className="min-w-0 truncate font-mono text-[0.8125rem]">{visible(path)}</h2>
        <CopyButton
          text={patchOf(path, original, modified)}
          label={t('changes.copy')}
          look={buttonClass('quiet', 'shrink-0')}
        />
      </div>
      <Suspense fallback={<Loading />}>
        <TextDiff path={path} original={original} modified={modified} isSplit={isSplit} />
      </Suspense>
    </section>
  )
}
