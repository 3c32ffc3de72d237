import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, fdatasyncSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { Agent, createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openTestDatabase } from '@parley/store/testing'
import { sql } from 'kysely'
import { p50, timed } from './measure.ts'

/* What this machine can do at best, with nothing of ours in the way: read in the same run as our own figures. */

const line = Buffer.from(`${JSON.stringify({ text: 'x'.repeat(300) })}\n`)

/** One append of 300 bytes to a file, on the disk when it returns; milliseconds. */
export async function fileAppend(): Promise<number> {
  const dir = mkdtempSync(join(tmpdir(), 'bf-'))
  const fd = openSync(join(dir, 'log'), 'a')
  const taken = await timed(500, async () => {
    writeSync(fd, line)
    fdatasyncSync(fd)
  })
  closeSync(fd)
  rmSync(dir, { recursive: true, force: true })
  return p50(taken)
}

/** One committed insert of 300 bytes in PostgreSQL; milliseconds. And how many a second from 16 writers at once. */
export async function databaseAppend(): Promise<{ one: number; perSecond: number }> {
  await using test = await openTestDatabase()
  const db = test.database
  await db.rows(sql`create table floor_event (id bigserial primary key, body text not null)`)
  const body = line.toString()
  const append = () => db.rows(sql`insert into floor_event (body) values (${body})`)
  const one = p50(await timed(500, append))
  const began = performance.now()
  await Promise.all(Array.from({ length: 10 }, () => timed(300, append, 0)))
  return { one, perSecond: 3_000 / ((performance.now() - began) / 1_000) }
}

/** A line to a bash that is open, and its answer; milliseconds. */
export async function bashRoundTrip(): Promise<number> {
  const bash = spawn('bash', ['--noprofile', '--norc'], { stdio: ['pipe', 'pipe', 'ignore'] })
  const taken = await timed(500, () => {
    const answered = new Promise((resolve) => bash.stdout.once('data', resolve))
    bash.stdin.write('true; echo $?\n')
    return answered
  })
  bash.stdin.end()
  return p50(taken)
}

/** A program that does nothing, from its start to its end; milliseconds. */
export const processRun = async (): Promise<number> =>
  p50(await timed(50, () => once(spawn('/bin/sh', ['-c', 'exit 0'], { stdio: 'ignore' }), 'exit')))

/** A GET over a connection that stays open; milliseconds. */
export async function httpGet(): Promise<number> {
  const server = createServer((_, response) => response.end('{"ok":true}'))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const agent = new Agent({ keepAlive: true })
  const taken = await timed(500, () => get({ port, agent }))
  agent.destroy()
  server.close()
  return p50(taken)
}

const get = (options: { port: number; agent: Agent }): Promise<void> =>
  new Promise((resolve, reject) => {
    const call = request({ host: '127.0.0.1', ...options }, (response) => {
      response.resume()
      response.once('end', resolve)
    })
    call.once('error', reject)
    call.end()
  })
