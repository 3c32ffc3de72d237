import { randomBytes } from 'node:crypto'
import type { Seal } from '@parley/store/seal'
import type { AccessStore } from './store.ts'

/** `pepper`: what key hashes are made with; `audit`: what the chains of the audit log are closed with. */
type Name = 'pepper' | 'audit'

/** 32 random bytes, kept sealed in the database, so that every server on it has the same. */
export async function openServerSecret(store: AccessStore, seal: Seal, name: Name): Promise<Buffer> {
  const place = `server_secret.${name}`
  const offered = await seal.close('server', place, randomBytes(32).toString('base64'))
  return Buffer.from(await seal.open('server', place, await store.serverSecret(name, offered)), 'base64')
}
