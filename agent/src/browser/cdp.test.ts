import assert from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import { test } from 'node:test'
import type { Process } from '@parley/sandbox/driver'
import { BrowserError, openCdp } from './cdp.ts'

/** A process that says what it is told to, in place of a browser. */
function impostor() {
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()]
  const ended = Promise.withResolvers<Awaited<Process['ended']>>()
  let killed = 0
  const process: Process = {
    stdin,
    stdout,
    stderr,
    ended: ended.promise,
    async kill() {
      killed += 1
      ended.resolve({ code: null, signal: 'SIGKILL' })
    },
    interruptChildren: async () => undefined,
    resize: () => undefined,
  }
  return { process, stdout, killed: () => killed }
}

for (const [what, words] of Object.entries({
  'no JSON': 'nonsense\0',
  'no object': 'null\0',
  'an event without what belongs to it': '{"method":"Target.attachedToTarget","params":null}\0',
}))
  test(`who speaks in a browser's place and says ${what} loses its place, and nothing else ends`, async () => {
    const { process, stdout, killed } = impostor()
    const cdp = openCdp(process, ({ params }) => void (params['targetInfo'] as { type: string }).type)
    const asked = cdp.send('Page.navigate')
    stdout.write(words)
    await assert.rejects(asked, BrowserError)
    assert.equal(killed(), 1)
    assert.equal(cdp.gone, true)
  })
