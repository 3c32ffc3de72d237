import { Problem } from '@parley/contract/problems'
import type { GitChange, GitDiff } from '@parley/contract/workspace'
import type { Hands, RunResult } from '@parley/sandbox/driver'
import type { Sandboxes } from '../sandboxes/service.ts'
import type { Whole } from './store.ts'

/*
 * What the agent has done to the repository, as git tells it. Git runs in the sandbox: the repository decides what its
 * configuration makes git do, so it may do it only there.
 */

const timeoutMs = 20_000
const largestText = 1024 * 1024
/** What git calls a tree without files: everything is new compared with it. */
const emptyTree = '4b825dc642cb6eb9a060e54bf8d69288fbee4904'

const listScript = `
cd -- "$1" || exit 1
git diff --name-status -z -M --no-ext-diff "$2" -- "$3" || exit 1
printf '?\\0'
git ls-files -z --others --exclude-standard -- "$3"`

/** Of what git knows, as git counts; then of the files that it does not know yet, which are given as arguments. */
const countScript = `
cd -- "$1" || exit 1
git diff --numstat -z -M --no-ext-diff "$2" -- "$3" || exit 1
printf '?\\0'
shift 3
[ $# -eq 0 ] || grep -Hc '' -- "$@" 2>/dev/null
:`
const mostCounted = 500

const beforeScript = 'git -C "$1" cat-file -e "$2:$3" 2>/dev/null || exit 3; git -C "$1" show "$2:$3"'
const afterScript = 'cd -- "$1" || exit 1; [ -f "$2" ] || exit 3; [ -L "$2" ] && exit 3; cat -- "$2"'

const statuses: Record<string, GitChange['status']> = { A: 'ADDED', C: 'ADDED', D: 'DELETED', R: 'MOVED' }

export type Changes = ReturnType<typeof changesIn>

export function changesIn({ sandboxes }: { sandboxes: Sandboxes }) {
  async function run(row: Whole, script: string, args: string[], signal: AbortSignal): Promise<RunResult> {
    const hands: Hands = await sandboxes.hands(row.owner_id, row.sandbox_id, signal)
    const result = await hands.run({ script, args, timeoutMs, maxBytes: largestText + 1, signal })
    if (result.timedOut) throw new Problem('upstream_timeout', 'The sandbox did not answer in time.')
    return result
  }

  return {
    /** Against `ref`, or against where the work began; files that git ignores are left out. */
    async list(
      row: Whole,
      { path, ref }: { path: string; ref?: string | undefined },
      signal: AbortSignal,
    ): Promise<GitChange[]> {
      const { code, stdout, stderr } = await run(
        row,
        listScript,
        [row.working_dir, ref ?? row.base_commit ?? emptyTree, path],
        signal,
      )
      if (code !== 0) throw new Problem('not_found', stderr.trim().split('\n')[0] || 'There is no repository here.')
      const { known, fresh } = parse(stdout.toString('utf8'))
      if (known.length + fresh.length === 0) return []
      const base = ref ?? row.base_commit ?? emptyTree
      const looked = fresh.filter((name) => !name.includes('\n')).slice(0, mostCounted)
      const counted = await run(row, countScript, [row.working_dir, base, path, ...looked], signal)
      return withCounts({ known, fresh, looked }, counted.stdout.toString('utf8'))
    },

    async diff(
      row: Whole,
      { path, ref }: { path: string; ref?: string | undefined },
      signal: AbortSignal,
    ): Promise<GitDiff> {
      const relative = path.startsWith(`${row.working_dir}/`) ? path.slice(row.working_dir.length + 1) : path
      const base = ref ?? row.base_commit ?? emptyTree
      const original = text(await run(row, beforeScript, [row.working_dir, base, relative], signal))
      const modified = text(await run(row, afterScript, [row.working_dir, relative], signal))
      if (original === null && modified === null) throw new Problem('not_found', 'There is no such file.')
      return { original, modified }
    },
  }
}

function text({ code, stdout, truncated }: RunResult): string | null {
  if (code !== 0) return null
  if (truncated) throw new Problem('payload_too_large', 'The file is too large to compare.')
  return stdout.toString('utf8')
}

type Named = Pick<GitChange, 'status' | 'path'>

/** `status NUL path NUL`, two paths for a move; after the lone `?` the paths that git does not track yet. */
function parse(output: string): { known: Named[]; fresh: string[] } {
  const words = output.split('\0')
  const known: Named[] = []
  let at = 0
  for (; at < words.length && words[at] !== '?'; at += 2) {
    const letter = (words[at] ?? '')[0] ?? ''
    if (letter === 'R' || letter === 'C') at += 1
    const path = words[at + 1]
    if (path) known.push({ status: statuses[letter] ?? 'UPDATED', path })
  }
  return { known, fresh: words.slice(at + 1).filter((path) => path !== '') }
}

interface Listed {
  known: readonly Named[]
  fresh: readonly string[]
  /** Those of `fresh` whose lines were counted. */
  looked: readonly string[]
}

/** `added TAB deleted TAB path NUL`, for a move an empty path and then both; after the lone `?` a line `path:count` for each new file. */
function withCounts({ known, fresh, looked }: Listed, output: string): GitChange[] {
  const end = output.lastIndexOf('?\0')
  const counts = new Map<string, [number | null, number | null]>()
  const words = output.slice(0, end).split('\0')
  for (let at = 0; at < words.length; at += 1) {
    const [added = '', deleted = '', path = ''] = (words[at] ?? '').split('\t')
    if (path === '') at += 2
    counts.set(path === '' ? (words[at] ?? '') : path, [count(added), count(deleted)])
  }
  const lines = new Map(
    output
      .slice(end + 2)
      .split('\n')
      .map((line) => [line.slice(0, line.lastIndexOf(':')), count(line.slice(line.lastIndexOf(':') + 1))]),
  )
  const asked = new Set(looked)
  return [
    ...known.map((one) => {
      const [additions, deletions] = counts.get(one.path) ?? [null, null]
      return { ...one, additions, deletions }
    }),
    ...fresh.map((path): GitChange => {
      const additions = asked.has(path) ? (lines.get(path) ?? null) : null
      return { status: 'ADDED', path, additions, deletions: additions === null ? null : 0 }
    }),
  ]
}

/** Null for the dash that stands for a binary file. */
const count = (text: string): number | null => (/^\d+$/.test(text) ? Number(text) : null)
