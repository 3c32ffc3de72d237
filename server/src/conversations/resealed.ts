import type { Seal } from '@parley/store/seal'
import type { ConversationRow } from './store.ts'

export const sealedPlace = (conversation: string): string => `conversation.sealed_config.${conversation}`

/** Sealed texts open only for the row they were closed for. */
export async function resealed(
  seal: Seal,
  row: Pick<ConversationRow, 'id' | 'owner_id' | 'sealed_config'>,
  id: string,
): Promise<{ sealed_config: string | null }> {
  if (row.sealed_config === null) return { sealed_config: null }
  const text = await seal.open(row.owner_id, sealedPlace(row.id), row.sealed_config)
  return { sealed_config: await seal.close(row.owner_id, sealedPlace(id), text) }
}
