import type { Who } from '@parley/contract/endpoint'
import type { ApiKey, ApiKeyRequest, CurrentKey, NewApiKey } from '@parley/contract/keys'
import { Problem } from '@parley/contract/problems'
import type { Clock } from '@parley/store/clock'
import { type Access, mayHand } from './service.ts'
import type { KeyRow } from './store.ts'

/** API keys as their owner manages them. */

export type Keys = ReturnType<typeof keysOf>

const shown = (row: KeyRow): ApiKey => ({
  id: row.id,
  name: row.name,
  prefix: 'prl_',
  last_four: row.last_four,
  scopes: row.scopes,
  created_at: row.created_at,
  last_used_at: row.last_used_at,
  expires_at: row.expires_at,
})

export function keysOf(access: Access, clock: Clock) {
  return {
    list: async (who: Who): Promise<ApiKey[]> => (await access.keys(who.owner)).map(shown),

    async create(who: Who, wanted: ApiKeyRequest): Promise<NewApiKey> {
      mayHand(who, wanted.scopes)
      if (wanted.expires_at !== null && Date.parse(wanted.expires_at) <= clock.millis())
        throw new Problem('validation_error', 'expires_at is in the past.')
      const { row, key } = await access.createKey(who.owner, wanted)
      return { ...shown(row), key }
    },

    async remove(who: Who, id: string): Promise<{ message: string }> {
      await access.deleteKey(who.owner, id)
      return { message: 'API key deleted successfully' }
    },

    async rotate(who: Who, id: string, graceSeconds: number): Promise<NewApiKey> {
      const { row, key } = await access.rotateKey(who, id, graceSeconds)
      return { ...shown(row), key }
    },

    async current(who: Who): Promise<CurrentKey> {
      const row = who.kind === 'key' ? (await access.keys(who.owner)).find((one) => one.id === who.id) : undefined
      return {
        user_id: who.owner,
        auth_type: who.kind === 'key' ? 'key' : 'session',
        scopes: [...who.scopes],
        key: row === undefined ? null : shown(row),
      }
    },
  }
}
