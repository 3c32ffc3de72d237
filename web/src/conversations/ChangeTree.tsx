import type { GitChange } from '@parley/contract/workspace'
import { type KeyboardEvent, useMemo, useRef, useState } from 'react'
import { t } from '../i18n/translate.ts'
import { Icon } from '../ui/Icon.tsx'
import { visible } from '../ui/visible.ts'
import { type Shown, shownIn, treeOf } from './change-tree.ts'
import { Counted } from './Counted.tsx'

const letters = {
  ADDED: ['A', 'text-good'],
  UPDATED: ['M', 'text-warn'],
  DELETED: ['D', 'text-bad'],
  MOVED: ['R', 'text-accent'],
} as const satisfies Record<GitChange['status'], [string, string]>

interface ChangeTreeProps {
  changes: readonly GitChange[]
  /** The path of the file that is shown. */
  shown: string | null
  onShow: (path: string) => void
}

/** The changed files under their folders. One stop for Tab; inside, the arrow keys walk, open and close. */
export function ChangeTree({ changes, shown, onShow }: ChangeTreeProps) {
  const [closed, setClosed] = useState<ReadonlySet<string>>(new Set())
  const [at, setAt] = useState<string | null>(null)
  const list = useRef<HTMLUListElement>(null)
  const tree = useMemo(() => treeOf(changes), [changes])
  const lines = shownIn(tree, closed)
  const reached = lines.find(({ path }) => path === (at ?? shown)) ?? lines[0]

  const go = (line: Shown | undefined) => {
    if (line === undefined) return
    setAt(line.path)
    list.current?.querySelector<HTMLElement>(`[data-path="${CSS.escape(line.path)}"]`)?.focus()
  }
  const fold = (path: string, isClosed: boolean) =>
    setClosed((before) => new Set(isClosed ? [...before, path] : [...before].filter((one) => one !== path)))
  const act = (line: Shown) => {
    setAt(line.path)
    if (line.kind === 'file') onShow(line.path)
    else fold(line.path, !closed.has(line.path))
  }
  const keys = (event: KeyboardEvent) => {
    if (reached === undefined || event.altKey || event.ctrlKey || event.metaKey) return
    const index = lines.indexOf(reached)
    const isOpen = reached.kind === 'folder' && !closed.has(reached.path)
    const moves: Record<string, () => void> = {
      ArrowDown: () => go(lines[index + 1]),
      ArrowUp: () => go(lines[index - 1]),
      Home: () => go(lines[0]),
      End: () => go(lines.at(-1)),
      ArrowRight: () => (reached.kind === 'folder' && !isOpen ? fold(reached.path, false) : go(lines[index + 1])),
      ArrowLeft: () =>
        isOpen ? fold(reached.path, true) : go(lines.slice(0, index).findLast(({ level }) => level < reached.level)),
      Enter: () => act(reached),
      ' ': () => act(reached),
    }
    const move = moves[event.key]
    if (move === undefined) return
    event.preventDefault()
    move()
  }
  return (
    <ul ref={list} role="tree" aria-label={t('changes.tree')} className="p-1.5" onKeyDown={keys}>
      {lines.map((line) => (
        <li
          key={line.path}
          role="treeitem"
          data-path={line.path}
          aria-level={line.level}
          aria-selected={line.path === shown}
          {...(line.kind === 'folder' ? { 'aria-expanded': !closed.has(line.path) } : {})}
          tabIndex={line === reached ? 0 : -1}
          onClick={() => act(line)}
          style={{ paddingLeft: `${line.level * 0.9 - 0.4}rem` }}
          className="flex min-h-8 cursor-pointer items-center gap-1.5 rounded-lg pr-2 text-sm hover:bg-panel aria-selected:bg-tint"
        >
          <Line of={line} isClosed={closed.has(line.path)} />
        </li>
      ))}
    </ul>
  )
}

function Line({ of: line, isClosed }: { of: Shown; isClosed: boolean }) {
  if (line.kind === 'folder')
    return (
      <>
        <Icon name={isClosed ? 'right' : 'down'} className="size-3 text-soft" />
        <Icon name="folder" className="size-4 text-soft" />
        <span className="min-w-0 flex-1 truncate text-soft">{visible(line.name)}</span>
        {isClosed && <Counted of={line} />}
      </>
    )
  const [letter, look] = letters[line.change.status]
  return (
    <>
      <span aria-hidden className="w-3" />
      <Icon name="file" className="size-4 text-soft" />
      <span
        className={`min-w-0 flex-1 truncate ${line.change.status === 'DELETED' ? 'line-through' : ''}`}
        title={line.path}
      >
        {visible(line.name)}
      </span>
      <Counted of={line.change} />
      <span
        className={`w-3 text-center font-mono text-xs font-semibold ${look}`}
        title={t(`changes.${line.change.status}`)}
      >
        <span aria-hidden>{letter}</span>
        <span className="sr-only">{t(`changes.${line.change.status}`)}</span>
      </span>
    </>
  )
}
