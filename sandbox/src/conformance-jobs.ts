import assert from 'node:assert/strict'
import { programs, type Sentence, type WithSandbox } from './conformance-sentence.ts'
import type { Hands } from './driver.ts'

/** Commands in the background, as every driver promises them. */
export function jobConformance(sentence: Sentence, withSandbox: WithSandbox, hands: () => Promise<Hands>): void {
  const maxBytes = 1000
  const waitMs = 10_000

  sentence('a job runs beside everything else, is read by offset, and tells how it ended', async () => {
    const { jobs, run, layout } = await hands()
    const id = await jobs.start({
      command: 'echo "$PWD $V"; until [ -e "$TMPDIR/go" ]; do sleep 0.02; done; echo on; exit 3',
      cwd: '/tmp',
      env: { V: "it's" },
    })
    const first = await jobs.read(id, { from: 0, maxBytes, waitMs })
    assert.deepEqual([String(first?.bytes), first?.running, first?.code], ["/tmp it's\n", true, null])
    await run({ script: 'touch "$1"', args: [`${layout.tmp}/go`] })
    const from = first?.size ?? 0
    const next = await jobs.read(id, { from, maxBytes, waitMs })
    assert.deepEqual([String(next?.bytes), next?.from], ['on\n', from])
    const end = await jobs.read(id, { from: from + 3, maxBytes, waitMs })
    assert.deepEqual([String(end?.bytes), end?.running, end?.code], ['', false, 3])
    const part = await jobs.read(id, { from: 5, maxBytes: 4 })
    assert.deepEqual([String(part?.bytes), String((await jobs.read(id, { maxBytes: 3 }))?.bytes)], ["it's", 'on\n'])
    const mine = (await jobs.list()).find((job) => job.id === id)
    assert.deepEqual([mine?.running, mine?.code, mine?.size], [false, 3, from + 3])
    assert.match(mine?.command ?? '', /^echo "\$PWD/)
  })

  sentence('a job takes input, and is stopped with all it started, also what took another session', async () => {
    const mine = await hands()
    const { jobs } = mine
    const command = `read name; echo "hello $name"; setsid sleep 5601 & trap '' INT TERM; sleep 5601; wait`
    const id = await jobs.start({ command, cwd: '/' })
    assert.ok(await jobs.write(id, 'ada\n'))
    const said = await jobs.read(id, { from: 0, maxBytes, waitMs })
    assert.equal(String(said?.bytes), 'hello ada\n')
    assert.equal(await jobs.stop(id), true)
    assert.equal(await programs(mine, 'sleep 5601'), 0)
    const end = await jobs.read(id, { from: 10, maxBytes, waitMs })
    assert.deepEqual([end?.running, end?.code], [false, 137])
    assert.deepEqual([await jobs.write(id, 'x'), await jobs.stop(id)], [false, true])
  })

  sentence('a job has the variables it is handed in a file, which is gone then', async () => {
    const { jobs, run, layout } = await hands()
    const variables = `${layout.tmp}/variables`
    await run({ script: `echo "export A='b c'" >"$1"`, args: [variables] })
    const id = await jobs.start({
      command: 'echo "$A $PARLEY_JOB"; ls "$TMPDIR/variables"',
      cwd: '/',
      variables,
    })
    let bytes = ''
    for (let more = await jobs.read(id, { from: 0, maxBytes, waitMs }); more !== null;) {
      bytes += String(more.bytes)
      if (!more.running) break
      more = await jobs.read(id, { from: bytes.length, maxBytes, waitMs })
    }
    assert.match(bytes, new RegExp(`^b c ${id}\\n.*(No such file|cannot access)`))
  })

  sentence('a job of the same number in another sandbox is left alone', () =>
    withSandbox({}, (_, one) =>
      withSandbox({}, async (_, other) => {
        const job = { command: 'sleep 5602', cwd: '/' }
        const [mine, theirs] = [await one.jobs.start(job), await other.jobs.start(job)]
        assert.equal(mine, theirs)
        await one.jobs.stop(mine)
        const running = [await one.jobs.list(), await other.jobs.list()].map(([first]) => first?.running)
        assert.deepEqual(running, [false, true])
      }),
    ),
  )

  sentence('of a job that is not there nothing is read, written or stopped', async () => {
    const { jobs } = await hands()
    assert.deepEqual(
      [await jobs.read('9999', { maxBytes }), await jobs.write('9999', 'x'), await jobs.stop('9999')],
      [null, false, false],
    )
  })
}
