import { createCipheriv, createDecipheriv, createHmac, createSecretKey, type KeyObject, randomBytes } from 'node:crypto'
import { type Kysely, sql } from 'kysely'
import type { Database } from './database.ts'

/*
 * Envelope encryption. A key-encryption key (KEK, 32 bytes, from the configuration) wraps one data key (DEK) for each
 * owner; the DEK closes that owner's texts with AES-256-GCM, a random 96-bit nonce, and owner, version and place as
 * associated data. So a text opens only for the owner and at the place it was closed for, and deleting an owner's row makes
 * everything of theirs unreadable, also in backups.
 */

export interface Seal {
  /** `place` names table, column and row, as in `secret.value.<id>`. */
  close(owner: string, place: string, text: string): Promise<string>
  /** Rejects when the text was closed for another owner or place, or was changed. */
  open(owner: string, place: string, sealed: string): Promise<string>
  /**
   * Wraps every owner's data key with `newKek` and forgets the others, while all goes on. Every replica must have been
   * started with both keys before. Resolves with the number of keys wrapped.
   */
  rewrap(newKek: Uint8Array): Promise<number>
  /** Deletes the owner's data keys in the given transaction. */
  forget(tx: Database, owner: string): Promise<void>
}

/** For the first migration: the wrapped data keys, and what tells a wrong KEK. */
export async function ownerKeyTable(db: Kysely<unknown>): Promise<void> {
  await sql`create table owner_key (
    owner text not null, version int not null, kek_id text not null, wrapped text not null,
    created_at timestamptz not null default now(), primary key (owner, version))`.execute(db)
  await sql`create table kek_check (kek_id text primary key, created_at timestamptz not null default now())`.execute(db)
}

interface Tables {
  owner_key: { owner: string; version: number; kek_id: string; wrapped: string }
  kek_check: { kek_id: string }
}

interface DataKey {
  version: number
  key: KeyObject
}

const mostCached = 2_000
/** Bound by openers and rewrappers of one database. */
const lockId = 7_210_448_004

/** `keks`: the newest first; it writes, all read. Rejects when one that the database was sealed with is missing. */
export async function openSeal({ database, keks }: { database: Database; keks: readonly Uint8Array[] }): Promise<Seal> {
  const keys = new Map(keks.map((kek) => [kekId(kek), kek]))
  let [newest = ''] = keys.keys()
  await checkKeks(database, keys, newest)
  const cache = new Map<string, Promise<DataKey>>()

  const dataKey = (owner: string, version: number | 'newest'): Promise<DataKey> => {
    const name = `${version} ${owner}`
    // Apart: a key that is remembered here must not be taken back with the work that asked for it first.
    const known = cache.get(name) ?? database.apart(() => load(database, keys, newest, owner, version))
    cache.delete(name)
    cache.set(name, known)
    known.catch(() => cache.delete(name))
    if (cache.size > mostCached) for (const [oldest] of cache.entries().take(1)) cache.delete(oldest)
    return known
  }
  return {
    async close(owner, place, text) {
      const { version, key } = await dataKey(owner, 'newest')
      return `v1.${version}.${encrypt(key, [owner, version, place], Buffer.from(text))}`
    },
    async open(owner, place, sealed) {
      const [, version, body = ''] = /^v1\.(\d{1,9})\.([\w-]+)$/.exec(sealed) ?? []
      if (version === undefined) throw new Error(`What is stored at ${place} is not a sealed text.`)
      const { key } = await dataKey(owner, Number(version))
      return decrypt(key, [owner, Number(version), place], body).toString()
    },
    async rewrap(newKek) {
      newest = kekId(newKek)
      keys.set(newest, newKek)
      return rewrapAll(database, keys, newest)
    },
    async forget(tx, owner) {
      await tx.withTables<Tables>().deleteFrom('owner_key').where('owner', '=', owner).execute()
      tx.afterCommit(() => {
        for (const name of cache.keys()) if (name.endsWith(` ${owner}`)) cache.delete(name)
      })
    },
  }
}

/** Not a secret: says which key a row is wrapped with, and so also which key is missing. */
function kekId(kek: Uint8Array): string {
  if (kek.length !== 32) throw new Error('A key-encryption key must have 32 bytes.')
  return createHmac('sha256', kek).update('parley kek id').digest('base64url')
}

/** The id is made from the key by a one-way function, so a row with it is the check value of that key. */
async function checkKeks(database: Database, keys: Map<string, Uint8Array>, newest: string): Promise<void> {
  await database.transaction(async (tx) => {
    await tx.rows(sql`select pg_advisory_xact_lock(${lockId})`)
    const db = tx.withTables<Tables>()
    const used = await db.selectFrom('kek_check').select('kek_id').execute()
    if (used.some(({ kek_id }) => !keys.has(kek_id))) {
      throw new Error(
        'The secret key is not the one that this database was sealed with. Set PARLEY_SECRET_KEY to that one.',
      )
    }
    await db
      .insertInto('kek_check')
      .values({ kek_id: newest })
      .onConflict((on) => on.doNothing())
      .execute()
  })
}

async function load(
  database: Database,
  keys: Map<string, Uint8Array>,
  newest: string,
  owner: string,
  version: number | 'newest',
): Promise<DataKey> {
  const db = database.withTables<Tables>()
  let query = db.selectFrom('owner_key').selectAll().where('owner', '=', owner)
  query = version === 'newest' ? query.orderBy('version', 'desc').limit(1) : query.where('version', '=', version)
  const row = await query.executeTakeFirst()
  if (row) return { version: row.version, key: createSecretKey(unwrap(keys, row)) }
  if (version !== 'newest') throw new Error('The data key of this text is no more.')
  const kek = keys.get(newest)
  if (!kek) throw new Error('No key-encryption key is loaded.')
  const wrapped = encrypt(kek, [owner, 1, newest], randomBytes(32))
  // Two replicas may do this at once: the first row counts, and both read it.
  await db
    .insertInto('owner_key')
    .values({ owner, version: 1, kek_id: newest, wrapped })
    .onConflict((on) => on.doNothing())
    .execute()
  return load(database, keys, newest, owner, 1)
}

function unwrap(keys: Map<string, Uint8Array>, row: Tables['owner_key']): Buffer {
  const kek = keys.get(row.kek_id)
  if (!kek) throw new Error('A data key is wrapped with a secret key that is not loaded.')
  return decrypt(kek, [row.owner, row.version, row.kek_id], row.wrapped)
}

const batchSize = 200

async function rewrapAll(database: Database, keys: Map<string, Uint8Array>, newest: string): Promise<number> {
  const kek = keys.get(newest)
  if (!kek) throw new Error('No key-encryption key is loaded.')
  await database
    .withTables<Tables>()
    .insertInto('kek_check')
    .values({ kek_id: newest })
    .onConflict((on) => on.doNothing())
    .execute()
  for (let done = 0; ;) {
    const count = await database.transaction(async (tx) => {
      const db = tx.withTables<Tables>()
      const rows = await db
        .selectFrom('owner_key')
        .selectAll()
        .where('kek_id', '!=', newest)
        .limit(batchSize)
        .forUpdate()
        .execute()
      for (const row of rows) {
        const wrapped = encrypt(kek, [row.owner, row.version, newest], unwrap(keys, row))
        const where = db.updateTable('owner_key').where('owner', '=', row.owner).where('version', '=', row.version)
        await where.set({ kek_id: newest, wrapped }).execute()
      }
      // Only when nothing is left that needs them.
      if (rows.length === 0) await db.deleteFrom('kek_check').where('kek_id', '!=', newest).execute()
      return rows.length
    })
    if (count === 0) return done
    done += count
  }
}

function encrypt(key: Uint8Array | KeyObject, context: (string | number)[], plain: Buffer): string {
  const nonce = randomBytes(12)
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(JSON.stringify(context)))
  return Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()]).toString('base64url')
}

function decrypt(key: Uint8Array | KeyObject, context: (string | number)[], sealed: string): Buffer {
  const bytes = Buffer.from(sealed, 'base64url')
  if (bytes.length < 28) throw new Error('The sealed text is cut short.')
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, 12), { authTagLength: 16 })
  decipher.setAAD(Buffer.from(JSON.stringify(context))).setAuthTag(bytes.subarray(-16))
  return Buffer.concat([decipher.update(bytes.subarray(12, -16)), decipher.final()])
}
