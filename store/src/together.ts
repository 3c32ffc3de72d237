import DataLoader from 'dataloader'

const most = 200

/**
 * Reads of single rows that come in one turn of the event loop, as one statement: what fifty clients ask for at once costs
 * little more than what one asks for. Nothing is remembered, and a row is read after it was asked for.
 * @param read rows with these keys, in any order; keys without one are left out
 */
export function together<K extends string, R>(
  read: (keys: readonly K[]) => Promise<readonly R[]>,
  keyOf: (row: R) => K,
): (key: K) => Promise<R | undefined> {
  const loader = new DataLoader<K, R | undefined>(
    async (keys) => {
      const rows = new Map((await read(keys)).map((row) => [keyOf(row), row]))
      return keys.map((key) => rows.get(key))
    },
    { cache: false, maxBatchSize: most, batchScheduleFn: (run) => void setImmediate(run) },
  )
  return (key) => loader.load(key)
}
