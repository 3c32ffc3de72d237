import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { ShellLog } from './shell-log.ts'

test('What a quiet shell has printed costs little more than its bytes, whatever else is made beside it', () => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const log = new ShellLog(() => assert.fail('so little goes into no file'), '/tmp')
  collect()
  const before = process.memoryUsage().arrayBuffers
  for (let line = 0; line < 500; line += 1) {
    log.add(Buffer.from('done\n'))
    // What is made elsewhere meanwhile: Node's pool of small buffers goes on to its next piece.
    for (let n = 0; n < 40; n += 1) Buffer.from('x'.repeat(2_000))
  }
  collect()
  const more = process.memoryUsage().arrayBuffers - before
  // What the collector has not given back yet is some MiB; a piece of the pool for each line would be 32.
  assert.ok(more < 8 * 2 ** 20, `${more} bytes are held for ${log.size}`)
})
