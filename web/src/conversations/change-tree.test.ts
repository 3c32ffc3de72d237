import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { GitChange } from '@parley/contract/workspace'
import { countsOf, shownIn, treeOf } from './change-tree.ts'

const change = (path: string, additions: number | null = 1, deletions: number | null = 0): GitChange => ({
  status: 'UPDATED',
  path,
  additions,
  deletions,
})
const changes = [
  change('README.md', 2, 1),
  change('src/deep/down/a.ts', 3),
  change('src/deep/down/b.ts', null, null),
  change('test/one.ts'),
  change('part/'),
]
const names = (closed: string[] = []) =>
  shownIn(treeOf(changes), new Set(closed)).map(({ name, level }) => `${level} ${name}`)

test('changed files stand under their folders, and folders that hold nothing else are one', () => {
  assert.deepEqual(names(), ['1 src/deep/down', '2 a.ts', '2 b.ts', '1 test', '2 one.ts', '1 part/', '1 README.md'])
})

test('what is inside of a closed folder is not shown', () => {
  assert.deepEqual(names(['src/deep/down/']), ['1 src/deep/down', '1 test', '2 one.ts', '1 part/', '1 README.md'])
})

test('a folder adds up what is in it, and what was not counted counts nothing', () => {
  const [folder] = treeOf(changes)
  assert.deepEqual(
    [folder?.kind === 'folder' && folder.additions, countsOf(changes)],
    [3, { additions: 7, deletions: 1 }],
  )
})
