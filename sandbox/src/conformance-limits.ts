import assert from 'node:assert/strict'
import { mebibyte, text, withoutLimits, type Sentence, type WithSandbox } from './conformance-sentence.ts'

/** What a sandbox may use, as every driver promises it. */
export function limitConformance(sentence: Sentence, withSandbox: WithSandbox): void {
  sentence('a fork bomb ends at the limit, and others go on', async ({ limits: held, driver, inPods }) => {
    if (!held) return withoutLimits
    // A cluster leaves no trace of it: there it is told when it is seen, and this one lasts.
    const bomb = inPods ? 'while :; do sleep 3 & done' : 'b() { b | b & }; b; sleep 0.5'
    return withSandbox(
      { limits: { memory: 256 * mebibyte, processes: 48, cpu: 1, disk: 64 * mebibyte } },
      async (spec, mine) => {
        await mine.run({ script: bomb, timeoutMs: 3_000 })
        assert.match((await driver.look(spec.id)).detail ?? '', /limit of 48 processes/)
      },
    )
  })

  sentence('a memory bomb is killed, the sandbox is not, and the limit is named', async ({ limits: held, driver }) => {
    await withSandbox(
      { limits: { memory: 64 * mebibyte, processes: 64, cpu: 1, disk: 64 * mebibyte } },
      async (spec, mine) => {
        const { code } = await mine.run({
          script: 'x=$(head -c 200000000 /dev/zero | tr "\\0" x); echo ${#x}',
          timeoutMs: 20_000,
        })
        assert.notEqual(code, 0)
        if (held) assert.match((await driver.look(spec.id)).detail ?? '', /out of memory.* 64 MiB/)
        assert.equal(await text(mine, 'echo alive'), 'alive\n')
      },
    )
  })

  sentence('a program may reserve more memory than it may use, as browsers do', () =>
    withSandbox({}, async (_, mine) => assert.equal(await text(mine, 'ulimit -v'), 'unlimited\n')),
  )

  sentence('no file grows beyond the disk limit', () =>
    withSandbox({ limits: { memory: 256 * mebibyte, processes: 64, cpu: 1, disk: 4 * mebibyte } }, async (_, mine) => {
      await mine.run({ script: 'head -c 9000000 /dev/zero >"$PARLEY_WORKSPACE/big"' })
      assert.equal((await mine.files.stat(`${mine.layout.workspace}/big`))?.size, 4 * mebibyte)
    }),
  )

  sentence('what goes on making empty files is ended at the disk limit too', () => {
    const disk = 16 * mebibyte
    return withSandbox({ limits: { memory: 256 * mebibyte, processes: 64, cpu: 1, disk } }, async (_, mine) => {
      // 4 KiB each: 4,096 of them are 16 MiB.
      const fill = 'i=0; while :; do i=$((i+1)); mkdir "$i"; (cd "$i"; touch $(seq 500)); sleep 0.02; done'
      const run = await mine.run({ script: fill, cwd: mine.layout.workspace, timeoutMs: 40_000 })
      assert.deepEqual([run.timedOut, /disk limit of 16 MiB/.test(run.stderr)], [false, true])
    })
  })

  sentence('what goes on writing beyond the disk limit is ended and told so; others are not', async ({ driver }) => {
    const disk = 16 * mebibyte
    const small = { limits: { memory: 256 * mebibyte, processes: 64, cpu: 1, disk } }
    await withSandbox({}, (_, neighbour) =>
      withSandbox(small, async (spec, mine) => {
        const other = await neighbour.shell({ cwd: neighbour.layout.workspace })
        await other.run({ command: 'KEPT=1' })
        const shell = await mine.shell({ cwd: mine.layout.workspace })
        const fill = 'i=0; while :; do i=$((i+1)); head -c 3000000 /dev/zero >"$i"; sleep 0.01; done'
        const { end, output } = await shell.run({ command: fill, timeoutMs: 40_000 })
        assert.equal(end, 'died')
        assert.match(output, /disk limit of 16 MiB reached: \d+ MiB in use/)
        assert.match((await driver.look(spec.id)).detail ?? '', /disk limit of 16 MiB/)
        assert.equal((await shell.run({ command: 'rm -f [0-9]*; echo freed' })).output, 'freed\n')
        assert.equal((await other.run({ command: 'echo "$KEPT"' })).output, '1\n')
        const run = await mine.run({ script: fill, cwd: mine.layout.workspace, timeoutMs: 40_000 })
        assert.deepEqual([run.timedOut, /disk limit of 16 MiB/.test(run.stderr)], [false, true])
      }),
    )
  })
}
