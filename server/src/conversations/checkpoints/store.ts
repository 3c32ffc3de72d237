import type { Database } from '@parley/store/database'
import { sql } from 'kysely'

export type ObjectKind = 'commit' | 'tree' | 'blob' | 'tag'

export interface StoredObject {
  oid: string
  kind: ObjectKind
  /** Before compression. */
  size: number
  /** Compressed by zlib. */
  body: Buffer
}

export interface Checkpoint {
  /** Id of the tree that names everything else. */
  root: string
  /** The last event of the log when it was made. */
  seq: number
  /** Of all its objects, before compression. */
  bytes: number
  at: string
}

export type Made = Pick<Checkpoint, 'root' | 'bytes'>

/** Where a conversation works. Children share their parent's directory, and its checkpoint. */
export interface Workplace {
  id: string
  owner_id: string
  sandbox_id: string | null
  working_dir: string
  base_commit: string | null
}

export type CheckpointStore = ReturnType<typeof checkpointStore>

export function checkpointStore(database: Database) {
  return {
    async workplace(conversation: string): Promise<Workplace | undefined> {
      const [row] = await database.rows(sql<Workplace>`
        with recursive up as (
          select id, owner_id, sandbox_id, parent_id, working_dir, base_commit from conversation where id = ${conversation}
          union all
          select c.id, c.owner_id, c.sandbox_id, c.parent_id, c.working_dir, c.base_commit
          from conversation c join up on c.id = up.parent_id and c.working_dir = up.working_dir)
        select id, owner_id, sandbox_id, working_dir, base_commit from up
        where not exists (select 1 from up above where above.id = up.parent_id)`)
      return row
    },

    /** Conversations with a working directory of their own in the sandbox. */
    async inSandbox(sandbox: string): Promise<string[]> {
      const rows = await database.rows(sql<{ id: string }>`
        select distinct on (working_dir) id from conversation where sandbox_id = ${sandbox}
        order by working_dir, created_at`)
      return rows.map(({ id }) => id)
    },

    async last(conversation: string): Promise<Checkpoint | undefined> {
      const [row] = await database.rows(sql<Checkpoint>`
        select root, seq, bytes, at from checkpoint where conversation_id = ${conversation}`)
      return row
    },

    /** Those of the ids that are not kept yet. */
    async missing(conversation: string, oids: readonly string[]): Promise<Set<string>> {
      const rows = await database.rows(sql<{ oid: string }>`
        select w.oid from unnest(${oids}::text[]) as w (oid)
        where not exists (
          select 1 from checkpoint_object o where o.conversation_id = ${conversation} and o.oid = w.oid)`)
      return new Set(rows.map(({ oid }) => oid))
    },

    /** `last`: with these objects every one of it is there. False when the conversation is gone. */
    async add(conversation: string, objects: readonly StoredObject[], last?: Made): Promise<boolean> {
      const set = last === undefined ? sql`` : sql`, ${setTo(last)}`
      const done = await database.rows(sql<{ there: boolean }>`
        with conversation as (select id from conversation where id = ${conversation} for key share),
        added as (
          insert into checkpoint_object (conversation_id, oid, kind, size, body)
          select c.id, o.* from conversation c, unnest(
            ${objects.map(({ oid }) => oid)}::text[], ${objects.map(({ kind }) => kind)}::text[],
            ${objects.map(({ size }) => size)}::bigint[], ${objects.map(({ body }) => body)}::bytea[]) as o
          on conflict do nothing)${set}
        select exists (select 1 from conversation) as there`)
      return done[0]?.there === true
    },

    /** Removes what the last checkpoint does not name. */
    async keepOnly(conversation: string, oids: readonly string[]): Promise<void> {
      await database.rows(sql`
        delete from checkpoint_object o where o.conversation_id = ${conversation}
        and not exists (select 1 from unnest(${oids}::text[]) as w (oid) where w.oid = o.oid)`)
    },

    /** A fork begins with what its parent has. */
    async copy(from: string, to: string): Promise<void> {
      await database.rows(sql`
        with objects as (
          insert into checkpoint_object (conversation_id, oid, kind, size, body)
          select ${to}, oid, kind, size, body from checkpoint_object where conversation_id = ${from}
          on conflict do nothing)
        insert into checkpoint (conversation_id, root, seq, bytes)
        select ${to}, root, seq, bytes from checkpoint where conversation_id = ${from} on conflict do nothing`)
    },

    objects: (conversation: string, oids: readonly string[]): Promise<StoredObject[]> =>
      database.rows(sql<StoredObject>`
        select oid, kind, size, body from checkpoint_object
        where conversation_id = ${conversation} and oid = any(${oids}::text[])`),

    async sizes(conversation: string, oids: readonly string[]): Promise<Map<string, number>> {
      const rows = await database.rows(sql<{ oid: string; size: number }>`
        select oid, size from checkpoint_object where conversation_id = ${conversation} and oid = any(${oids}::text[])`)
      return new Map(rows.map(({ oid, size }) => [oid, size]))
    },

    /** How many there are, and a page of them in order of their ids, of few MiB unless one is larger. */
    async count(conversation: string): Promise<number> {
      const [row] = await database.rows(sql<{ n: number }>`
        select count(*)::int as n from checkpoint_object where conversation_id = ${conversation}`)
      return row?.n ?? 0
    },

    page: (conversation: string, after: string, mostBytes: number): Promise<StoredObject[]> =>
      database.rows(sql<StoredObject>`
        with listed as (
          select oid, length(body) as n from checkpoint_object
          where conversation_id = ${conversation} and oid > ${after} order by oid limit 2000),
        fitting as (select oid, sum(n) over (order by oid) - n as before from listed)
        select o.oid, o.kind, o.size, o.body from fitting f join checkpoint_object o using (oid)
        where o.conversation_id = ${conversation} and f.before < ${mostBytes} order by o.oid`),
  }
}

const setTo = ({ root, bytes }: Made) => sql`
  made as (
    insert into checkpoint (conversation_id, root, seq, bytes)
    select conversation_id, ${root}, last_seq, ${bytes}::bigint from conversation_head
    where conversation_id in (select id from conversation)
    on conflict (conversation_id) do update
      set root = excluded.root, seq = excluded.seq, bytes = excluded.bytes, at = now())`
