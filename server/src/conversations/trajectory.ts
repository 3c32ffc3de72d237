import { PassThrough, Readable as Source } from 'node:stream'
import type { AppConversation } from '@parley/contract/conversations'
import type { Bytes } from '@parley/wire/serve'
import { ZipFile } from 'yazl'
import { recordText } from './log/record.ts'
import type { EventRow, LogStore } from './log/store.ts'

/*
 * A conversation as a zip: what it is, then its events in order. Of any size: a page of events is read when the one before
 * it has gone out, so that a slow reader costs no memory.
 */

const pageEvents = 50

/** Resolves once the first bytes can be sent; a failure after that cuts the answer. */
export function trajectoryOf(conversation: AppConversation, logs: Pick<LogStore, 'after'>): Bytes {
  const zip = new ZipFile()
  const out = new PassThrough()
  // The library's own stream: its errors are ours to hand on.
  zip.outputStream.pipe(out)
  const cut = (error: unknown) => out.destroy(error instanceof Error ? error : new Error(String(error)))
  zip.on('error', cut)
  fill(zip, out, conversation, logs).catch(cut)
  return { type: 'application/zip', name: `conversation_${conversation.id}.zip`, body: out }
}

async function fill(zip: ZipFile, out: PassThrough, conversation: AppConversation, logs: Pick<LogStore, 'after'>) {
  const mtime = new Date(conversation.updated_at)
  const gone = new Promise<void>((resolve) => out.once('close', resolve))
  zip.addBuffer(Buffer.from(JSON.stringify(metaOf(conversation), null, 2)), 'meta.json', { mtime })
  for (let seq = 0; !out.destroyed;) {
    const rows = await logs.after(conversation.id, seq, pageEvents)
    // What is written while this is read may wait for the next download.
    const page = rows.filter((row) => row.seq <= conversation.last_seq)
    const last = page.at(-1)
    if (last === undefined) break
    for (const row of page.slice(0, -1))
      zip.addBuffer(Buffer.from(recordText(row)), fileName(row), { mtime: new Date(row.at) })
    await reached(zip, last, gone)
    seq = last.seq
  }
  zip.end()
}

/**
 * Adds an entry and resolves when it is its turn: all entries before it are written, and it waits for the reader as a stream
 * does. Resolves also when the reader has left.
 */
async function reached(zip: ZipFile, row: EventRow, gone: Promise<void>): Promise<void> {
  const turn = new Promise<void>((resolve) => {
    zip.addReadStreamLazy(fileName(row), { mtime: new Date(row.at) }, (give) => {
      give(null, Source.from([Buffer.from(recordText(row))], { objectMode: false }))
      resolve()
    })
  })
  await Promise.race([turn, gone])
}

const fileName = ({ seq, id }: EventRow): string => `event_${String(seq).padStart(6, '0')}_${id}.json`

/** Without what is true for the moment only. */
function metaOf({
  sandbox_status: _,
  execution_status: __,
  conversation_url: ___,
  session_api_key: ____,
  ...kept
}: AppConversation) {
  return kept
}
