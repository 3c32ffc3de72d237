import { sql } from 'kysely'
import type { Database } from './database.ts'
import { isUnavailable } from './failure.ts'
import { type Batch, batch } from './wake-batch.ts'

/*
 * A wake says "look again", never what there is to see: a lost one costs time (until the next poll), a spare one costs a
 * read. Those who sleep in this process are woken at once; other replicas hear one NOTIFY about all topics of some 5 ms.
 * A topic is only remembered while someone sleeps on it.
 */

export interface Wake {
  /** Wakes everyone who waits for the topic, here and on other replicas. Call it after the commit. */
  tell(topic: string): void
  /** Calls `fn` at each wake until the returned function is called. `fn` must not throw. */
  on(topic: string, fn: () => void): () => void
  /** Resolves at the next wake or after the time; rejects with the signal's reason. */
  wait(topic: string, options: { signal?: AbortSignal; timeoutMs: number }): Promise<void>
  /**
   * Reads on from the cursor whenever there may be more, and gives every row once and in order. Ends when the signal
   * aborts. While the database is unavailable it waits; any other error of `read` ends it.
   */
  follow<Row, C>(
    topic: string,
    read: (cursor: C) => Promise<Read<Row, C>>,
    options: FollowOptions<C>,
  ): AsyncGenerator<Row, void>
  close(): Promise<void>
}

export interface Read<Row, C> {
  rows: Row[]
  /** After the last of `rows`; the same cursor again when there are none. */
  cursor: C
}

export interface FollowOptions<C> {
  cursor: C
  signal: AbortSignal
  /** The longest time without a read, for a wake that was lost. */
  pollMs: number
}

const channel = 'parley_wake'

/**
 * Starts listening at once, on a connection of its own.
 * @param alone Nobody else serves from this database, so nobody is told.
 */
export function openWake(database: Database, { alone = false }: { alone?: boolean } = {}): Wake {
  const sleepers = new Map<string, Set<() => void>>()
  const wakeTopic = (topic: string) => {
    for (const fn of sleepers.get(topic) ?? []) fn()
  }
  const wakeAll = () => {
    for (const topic of sleepers.keys()) wakeTopic(topic)
  }
  const told = batch((payloads) => notify(database, payloads))
  const hushed = database.listen(channel, {
    told: (payload) => hear(told, payload, wakeTopic, wakeAll),
    armed: wakeAll,
  })

  const on = (topic: string, fn: () => void) => {
    const here = sleepers.get(topic) ?? new Set()
    sleepers.set(topic, here.add(fn))
    return () => {
      here.delete(fn)
      if (here.size === 0 && sleepers.get(topic) === here) sleepers.delete(topic)
    }
  }
  const wait: Wake['wait'] = (topic, options) => nap(on, topic, options).over
  return {
    on,
    wait,
    tell(topic) {
      wakeTopic(topic)
      if (!alone) told.add(topic)
    },
    follow: (topic, read, options) => follow(on, topic, read, options),
    async close() {
      await told.close()
      await hushed()
    },
  }
}

type On = Wake['on']

interface Nap {
  over: Promise<void>
  /** Ends the nap without a word: `over` stays pending. */
  cancel(): void
}

function nap(on: On, topic: string, { signal, timeoutMs }: { signal?: AbortSignal; timeoutMs: number }): Nap {
  let cancel = () => {}
  const over = new Promise<void>((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason)
    const wake = () => {
      cancel()
      resolve()
    }
    const aborted = () => {
      cancel()
      reject(signal?.reason)
    }
    const off = on(topic, wake)
    const timer = setTimeout(wake, timeoutMs)
    signal?.addEventListener('abort', aborted, { once: true })
    cancel = () => {
      clearTimeout(timer)
      off()
      signal?.removeEventListener('abort', aborted)
    }
  })
  return { over, cancel: () => cancel() }
}

async function* follow<Row, C>(
  on: On,
  topic: string,
  read: (cursor: C) => Promise<Read<Row, C>>,
  { cursor, signal, pollMs }: FollowOptions<C>,
): AsyncGenerator<Row, void> {
  while (!signal.aborted) {
    // Asleep before reading: what is written after the read has begun wakes the sleep that follows it.
    const asleep = nap(on, topic, { signal, timeoutMs: pollMs })
    // An abort ends the loop below, not with an error.
    const over = asleep.over.catch(() => {})
    try {
      const found = await read(cursor).catch(patience)
      if (found) cursor = found.cursor
      for (const row of found?.rows ?? []) {
        yield row
        if (signal.aborted) return
      }
      if (!found?.rows.length) await over
    } finally {
      asleep.cancel()
    }
  }
}

function patience(error: unknown): undefined {
  if (!isUnavailable(error)) throw error
}

/** A telling of our own needs no second wake, and `*` stands for more topics than we cared to list. */
function hear(told: Batch, payload: string, wakeTopic: (topic: string) => void, wakeAll: () => void): void {
  const [origin, ...topics] = payload.split('\n')
  if (origin === told.origin) return
  if (topics.includes('*')) return wakeAll()
  for (const topic of topics) wakeTopic(topic)
}

async function notify(database: Database, payloads: string[]): Promise<void> {
  await database.rows(sql`select pg_notify(${channel}, payload) from unnest(${payloads}::text[]) as payload`)
}
