import { randomBytes } from 'node:crypto'
import type { Seal } from '@parley/store/seal'
import type { AccessStore } from './store.ts'

/** What key hashes are made with: kept sealed in the database, so that every server on it has the same. */
export async function openPepper(store: AccessStore, seal: Seal): Promise<Buffer> {
  const place = 'server_secret.pepper'
  const offered = await seal.close('server', place, randomBytes(32).toString('base64'))
  return Buffer.from(await seal.open('server', place, await store.serverSecret('pepper', offered)), 'base64')
}
