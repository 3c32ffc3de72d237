import { createHmac, createSecretKey, hkdfSync } from 'node:crypto'
import { hostMatches } from '@parley/contract/egress'
import { Problem } from '@parley/contract/problems'
import type { SecretSummary } from '@parley/contract/secret-names'
import type { NewSecret, SecretUpdate } from '@parley/contract/secrets'
import type { Cursor } from '@parley/store/page'
import type { Seal } from '@parley/store/seal'
import type { SecretRow, SecretStore } from './store.ts'

export type SecretsService = ReturnType<typeof secretsService>

/** A secret as work needs it. */
export interface SecretValue {
  name: string
  description: string | null
  value: string
  /** What a sandbox is given: the value, or a placeholder when it is bound to hosts. */
  shown: string
}

interface Parts {
  store: SecretStore
  seal: Seal
  cursor: Cursor
  /** Of the server: placeholders are made with it. */
  key: Buffer
}

/** A value is closed for its owner and its name: a rename closes it anew. */
const place = (name: string): string => `secret.sealed_value.${name}`

const summary = ({ name, description, hosts }: SecretRow): SecretSummary => ({ name, description, hosts })

export function secretsService({ store, seal, cursor, key }: Parts) {
  const marks = createSecretKey(Buffer.from(hkdfSync('sha256', key, '', 'parley placeholders of secrets', 32)))
  /** The same for ever, so that the way out knows it wherever the sandbox has put it. */
  const placeholder = (owner: string, name: string): string =>
    `parley-secret-${createHmac('sha256', marks).update(`${owner} ${name}`).digest('hex').slice(0, 32)}`
  const open = ({ owner_id, name, sealed_value }: SecretRow) => seal.open(owner_id, place(name), sealed_value)

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

    async create(owner: string, { name, value, description, hosts }: NewSecret): Promise<{ message: string }> {
      const sealed_value = await seal.close(owner, place(name), value)
      const kept = await store.insert({ owner_id: owner, name, description, sealed_value, hosts })
      if (!kept) throw new Problem('secret_name_taken', `Secret ${name} already exists.`)
      return { message: 'Secret created successfully' }
    },

    /** Creates or replaces: how settings hand over theirs, which say nothing of hosts. */
    async put(owner: string, { name, value, description }: Omit<NewSecret, 'hosts'>): Promise<void> {
      const sealed_value = await seal.close(owner, place(name), value)
      await store.transaction(async (rows) => {
        const hosts = (await rows.get(owner, name))?.hosts ?? null
        await rows.put({ owner_id: owner, name, description, sealed_value, hosts })
      })
    },

    async update(owner: string, id: string, update: SecretUpdate): Promise<{ message: string }> {
      const { name, value, description } = update
      await store.transaction(async (rows) => {
        const old = await rows.get(owner, id)
        if (old === undefined) throw new Problem('not_found', `There is no secret ${id}.`)
        const hosts = update.hosts === undefined ? old.hosts : update.hosts
        if (value === undefined && !isWithin(hosts, old.hosts))
          throw new Problem('validation_error', 'A secret goes to other hosts only when its value is sent again.')
        const text = value ?? (await open(old))
        const sealed_value = await seal.close(owner, place(name), text)
        const row = { owner_id: owner, name, description, sealed_value, hosts }
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
    async values(owner: string): Promise<SecretValue[]> {
      const rows = await store.list(owner)
      return Promise.all(
        rows.map(async (row) => {
          const { name, description, hosts } = row
          const value = await open(row)
          return { name, description, value, shown: hosts === null ? value : placeholder(owner, name) }
        }),
      )
    },

    /** What stands for which value in requests to this host. Values only for the way out of this owner's sandboxes. */
    async goingTo(owner: string, host: string, port: number): Promise<{ placeholder: string; value: string }[]> {
      const rows = (await store.list(owner)).filter(({ hosts }) => hosts?.some((said) => hostMatches(said, host, port)))
      return Promise.all(
        rows.map(async (row) => ({ placeholder: placeholder(owner, row.name), value: await open(row) })),
      )
    },
  }
}

/** Whether these are no more hosts than those. Null: everybody. */
const isWithin = (hosts: string[] | null, those: string[] | null): boolean =>
  those === null || (hosts !== null && hosts.every((host) => those.includes(host)))
