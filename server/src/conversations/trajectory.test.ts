import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { createWriteStream, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { test } from 'node:test'
import { AppConversation, exampleConversation } from '@parley/contract/conversations'
import type { EventRow } from './log/store.ts'
import { trajectoryOf } from './trajectory.ts'

const text = 'x'.repeat(2_000)

function logOf(count: number, failAt = Infinity) {
  const reads: number[] = []
  const row = (seq: number): EventRow => ({
    seq,
    id: randomUUID(),
    kind: 'MessageEvent',
    source: 'user',
    at: '2026-11-21T07:13:05.120Z',
    body: JSON.stringify({ llm_message: { role: 'user', content: [{ type: 'text', text }] }, salt: randomUUID() }),
  })
  return {
    reads,
    async after(_: string, seq: number, limit: number) {
      reads.push(seq)
      if (seq >= failAt) throw new Error('the database is away')
      return Array.from({ length: Math.min(limit, count - seq) }, (_unused, n) => row(seq + n + 1))
    },
  }
}

const conversation = (last_seq: number) => AppConversation.parse({ ...exampleConversation, last_seq })

test('the zip has the record and every event in order, whatever their number', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'pz-'))
  try {
    const { body, name, type } = trajectoryOf(conversation(777), logOf(800))
    assert.deepEqual([name, type], [`conversation_${exampleConversation.id}.zip`, 'application/zip'])
    const file = join(dir, 'all.zip')
    await pipeline(body as Readable, createWriteStream(file))
    const read = `
import json, sys, zipfile
z = zipfile.ZipFile(sys.argv[1])
assert z.testzip() is None
print(json.dumps({'names': z.namelist(), 'meta': json.loads(z.read('meta.json')), 'seqs': [json.loads(z.read(n))['seq'] for n in z.namelist()[1:]]}))`
    const found = JSON.parse(execFileSync('python3', ['-c', read, file], { encoding: 'utf8' })) as {
      names: string[]
      meta: Record<string, unknown>
      seqs: number[]
    }
    assert.equal(found.names[0], 'meta.json')
    assert.match(found.names[1] ?? '', /^event_000001_[0-9a-f-]{36}\.json$/)
    // What came after the download began is for the next one.
    assert.deepEqual(
      found.seqs,
      Array.from({ length: 777 }, (_, n) => n + 1),
    )
    assert.equal(found.meta['title'], exampleConversation.title)
    assert.ok(!('sandbox_status' in found.meta) && !('session_api_key' in found.meta))
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
})

test('a reader that does not read stops the reading of the log', async () => {
  const log = logOf(100_000)
  const body = trajectoryOf(conversation(100_000), log).body as Readable
  body.once('readable', () => {})
  let seen = -1
  while (seen !== log.reads.length) {
    seen = log.reads.length
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  assert.ok(log.reads.length < 100, `${log.reads.length} pages were read for nobody`)
  body.destroy()
})

test('a log that cannot be read to its end cuts the download', async () => {
  const body = trajectoryOf(conversation(500), logOf(500, 200)).body as Readable
  await assert.rejects(async () => {
    for await (const _ of body);
  }, /database is away/)
})
