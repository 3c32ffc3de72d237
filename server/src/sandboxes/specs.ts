import type { SandboxSpec } from '@parley/contract/sandbox-specs'
import type { Cursor } from '@parley/store/page'

export type Specs = ReturnType<typeof specList>

interface Parts {
  cursor: Cursor
  startedAt: string
  ids: readonly string[]
  workingDir: string
}

/** What sandboxes can be made from here: a list that does not change while the server runs. */
export function specList({ cursor, startedAt, ids, workingDir }: Parts) {
  const usual = { command: null, created_at: startedAt, initial_env: {}, working_dir: workingDir }
  const specs: SandboxSpec[] = ids.map((id) => ({ id, ...usual }))
  const key = 'sandbox-specs'
  return {
    search({ page_id, limit }: { page_id?: string | undefined; limit: number }) {
      const from = page_id === undefined ? 0 : Number(cursor.read(page_id, key)[0])
      const end = from + limit
      return {
        items: specs.slice(from, end),
        next_page_id: end < specs.length ? cursor.write({ query: key, at: [end] }) : null,
      }
    },
    many: (ids: readonly string[]): (SandboxSpec | null)[] =>
      ids.map((id) => specs.find((spec) => spec.id === id) ?? null),
  }
}
