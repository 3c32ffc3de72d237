import { Problem } from '@parley/contract/problems'
import type { SecretSummary } from '@parley/contract/secret-names'
import type { NewSecret, SecretUpdate } from '@parley/contract/secrets'
import type { Cursor } from '@parley/store/page'
import type { Seal } from '@parley/store/seal'
import type { SecretRow, SecretStore } from './store.ts'

export type SecretsService = ReturnType<typeof secretsService>

/** A value is closed for its owner and its name: a rename closes it anew. */
const place = (name: string): string => `secret.sealed_value.${name}`

const summary = ({ name, description }: SecretRow): SecretSummary => ({ name, description })

export function secretsService({ store, seal, cursor }: { store: SecretStore; seal: Seal; cursor: Cursor }) {
  return {
    list: async (owner: string): Promise<{ custom_secrets: SecretSummary[] }> => ({
      custom_secrets: (await store.list(owner)).map(summary),
    }),

    async search(
      owner: string,
      query: { name__contains?: string | undefined; page_id?: string | undefined; limit: number },
    ) {
      const key = `secrets ${owner} ${query.name__contains ?? ''}`
      const after = query.page_id === undefined ? undefined : String(cursor.read(query.page_id, key)[0])
      const rows = await store.page(owner, query.name__contains, after, query.limit + 1)
      const items = rows.slice(0, query.limit)
      const end = rows.length > query.limit ? items.at(-1) : undefined
      const next = end && cursor.write({ query: key, at: [end.name] })
      return { items: items.map(summary), next_page_id: next ?? null }
    },

    async create(owner: string, { name, value, description }: NewSecret): Promise<{ message: string }> {
      const sealed_value = await seal.close(owner, place(name), value)
      const kept = await store.insert({ owner_id: owner, name, description, sealed_value })
      if (!kept) throw new Problem('secret_name_taken', `Secret ${name} already exists.`)
      return { message: 'Secret created successfully' }
    },

    /** Creates or replaces: how settings hand over theirs. */
    async put(owner: string, { name, value, description }: NewSecret): Promise<void> {
      await store.put({ owner_id: owner, name, description, sealed_value: await seal.close(owner, place(name), value) })
    },

    async update(owner: string, id: string, { name, value, description }: SecretUpdate): Promise<{ message: string }> {
      await store.transaction(async (rows) => {
        const old = await rows.get(owner, id)
        if (old === undefined) throw new Problem('not_found', `There is no secret ${id}.`)
        const text = value ?? (await seal.open(owner, place(old.name), old.sealed_value))
        const row = { owner_id: owner, name, description, sealed_value: await seal.close(owner, place(name), text) }
        if (name === old.name) return rows.put(row)
        if (!(await rows.insert(row))) throw new Problem('secret_name_taken', `Secret ${name} already exists.`)
        await rows.delete(owner, old.name)
      })
      return { message: 'Secret updated successfully' }
    },

    async remove(owner: string, id: string): Promise<{ message: string }> {
      if (!(await store.delete(owner, id))) throw new Problem('not_found', `There is no secret ${id}.`)
      return { message: 'Secret deleted successfully' }
    },

    /** For the runs of this owner's conversations, and for nobody else. */
    async values(owner: string): Promise<{ name: string; description: string | null; value: string }[]> {
      const rows = await store.list(owner)
      return Promise.all(
        rows.map(async ({ name, description, sealed_value }) => ({
          name,
          description,
          value: await seal.open(owner, place(name), sealed_value),
        })),
      )
    },
  }
}
