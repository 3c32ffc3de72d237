import pg from 'pg'

export interface Listening {
  /** A NOTIFY arrived. Must not throw. */
  told(payload: string): void
  /** Listening from now on: at first, and again after each lost connection. What was told in between is lost. */
  armed(): void
}

const firstMs = 50
const longestMs = 2_000

/** Listens until the returned function is called; a lost connection is made again with growing pauses. */
export function listening(config: pg.ClientConfig, channel: string, hear: Listening): () => Promise<void> {
  let stopped = false
  let client: pg.Client | undefined
  let timer: NodeJS.Timeout | undefined
  let pause = firstMs

  const again = (lost: pg.Client) => {
    if (client !== lost) return
    client = undefined
    lost.end().catch(() => {})
    if (stopped) return
    timer = setTimeout(arm, pause)
    pause = Math.min(pause * 2, longestMs)
  }
  const arm = () => {
    const mine = new pg.Client(config)
    client = mine
    mine.on('error', () => again(mine))
    mine.on('end', () => again(mine))
    mine.on('notification', ({ payload }) => payload !== undefined && hear.told(payload))
    mine
      .connect()
      .then(() => mine.query(`listen ${pg.escapeIdentifier(channel)}`))
      .then(() => {
        if (client !== mine) return
        pause = firstMs
        hear.armed()
      })
      .catch(() => again(mine))
  }
  arm()
  return async () => {
    stopped = true
    clearTimeout(timer)
    const last = client
    client = undefined
    await last?.end().catch(() => {})
  }
}
