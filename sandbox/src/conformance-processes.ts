import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { collect, mebibyte, programs, text, type Sentence, type WithSandbox } from './conformance-sentence.ts'
import type { Hands } from './driver.ts'

/** Programs inside, as every driver promises them. */
export function processConformance(sentence: Sentence, withSandbox: WithSandbox, hands: () => Promise<Hands>): void {
  sentence('a process has its three streams, its exit code, its folder and its variables', async () => {
    const one = (await hands()).spawn({
      argv: ['sh', '-c', 'cat; printf "%s %s %s" "$PWD" "$GREETING" "$MORE"; echo err >&2; exit 7'],
      cwd: '/tmp',
      env: { MORE: 'a b\n"c"' },
    })
    one.stdin.end('in ')
    const [out, err, ended] = await Promise.all([collect(one.stdout), collect(one.stderr), one.ended])
    assert.deepEqual([out, err, ended.code], ['in /tmp it\'s a b\n"c"', 'err\n', 7])
  })

  sentence('a process that is cancelled ends with everything that it started', ({ driver: _ }) =>
    withSandbox({}, async (_spec, mine) => {
      const cancel = new AbortController()
      const script = 'setsid sleep 4321 & (sleep 4321 &) ; trap "" TERM; echo up; while :; do sleep 4321; done'
      const one = mine.spawn({ argv: ['sh', '-c', script], signal: cancel.signal })
      await new Promise((resolve) => one.stdout.once('data', resolve))
      cancel.abort()
      await one.ended
      assert.equal(await programs(mine, 'sleep 4321'), 0)
    }),
  )

  sentence('100 MiB go through a pipe', async () => {
    const one = (await hands()).spawn({ argv: ['head', '-c', String(100 * mebibyte), '/dev/zero'] })
    let size = 0
    one.stdout.on('data', (chunk: Buffer) => (size += chunk.length))
    await Promise.all([one.ended, new Promise((resolve) => one.stdout.on('end', resolve))])
    assert.equal(size, 100 * mebibyte)
  })

  sentence('a terminal is one, of the size asked', async () => {
    const one = (await hands()).spawn({
      argv: ['sh', '-c', 'test -t 0 && test -t 1 && stty size; exit 3'],
      terminal: { columns: 91, rows: 17 },
    })
    const [out, ended] = await Promise.all([collect(one.stdout), one.ended])
    assert.match(out, /^17 91\r?\n/)
    assert.equal(ended.code, 3)
  })

  sentence('a terminal takes another size, and what runs in it is told', async () => {
    const script = `trap 'stty size; exit' WINCH; echo up; while :; do sleep 0.05; done`
    const one = (await hands()).spawn({ argv: ['sh', '-c', script], terminal: { columns: 80, rows: 24 } })
    const out = collect(one.stdout)
    await new Promise((resolve) => one.stdout.once('data', resolve))
    one.resize(101, 33)
    await one.ended
    assert.match(await out, /33 101/)
  })

  sentence('a process gets long and odd arguments and variables whole', async () => {
    const odd = 'é✓\\n "$(id)" `id` \'q\'\n\nlast\n'
    const long = `${odd}${'x'.repeat(90_000)}`
    const script = 'printf "%s|%s|%s" "$1" "$2" "$LONG"; ls /proc/$$/fd/3 >&2'
    const one = (await hands()).spawn({ argv: ['sh', '-c', script, 'sh', odd, long], env: { LONG: long } })
    const [out, err] = await Promise.all([collect(one.stdout), collect(one.stderr)])
    assert.equal(out, `${odd}|${long}|${long}`)
    assert.match(err, /cannot access|No such file/)
  })

  sentence('run gives code, both outputs and nothing of the run before', async () => {
    const mine = await hands()
    await mine.run({ script: 'cd /tmp; X=1; export X; exec 2>/dev/null; set -e; false' })
    const result = await mine.run({
      script: 'printf "%s|" "$PWD" "$X" "$@"; echo oops >&2; exit 9',
      args: ["a'b", '', 'c\nd'],
      cwd: mine.layout.workspace,
    })
    assert.deepEqual(
      { ...result, stdout: String(result.stdout) },
      { code: 9, stdout: `${mine.layout.workspace}||a'b||c\nd|`, stderr: 'oops\n', truncated: false, timedOut: false },
    )
    assert.equal((await mine.run({ script: 'echo "unbalanced' })).code === 0, false)
    assert.equal(await text(mine, 'echo fine'), 'fine\n')
  })

  sentence('run takes input, cuts output at its bound and ends at its time', async () => {
    const mine = await hands()
    const bytes = Buffer.from([0, 255, 10, 13, 128])
    assert.deepEqual((await mine.run({ script: 'cat', stdin: bytes })).stdout, bytes)
    const cut = await mine.run({ script: 'yes | head -c 1000000', maxBytes: 1000 })
    assert.deepEqual([cut.stdout.length, cut.truncated, cut.code], [1000, true, 0])
    const late = await mine.run({ script: 'echo a; sleep 60', timeoutMs: 200 })
    assert.deepEqual([late.timedOut, String(late.stdout)], [true, 'a\n'])
  })

  sentence('forty runs at once each get their own answer', async () => {
    const mine = await hands()
    const numbers = [...Array(40).keys()].map(String)
    assert.deepEqual(await Promise.all(numbers.map((one) => text(mine, 'sleep 0.01; printf %s "$1"', [one]))), numbers)
  })

  sentence('a byte stream reaches what listens inside, and a closed port is refused', async () => {
    const mine = await hands()
    const port = randomInt(20_000, 30_000)
    const server = mine.spawn({ argv: ['socat', `TCP-LISTEN:${port},bind=127.0.0.1,fork,reuseaddr`, 'EXEC:cat'] })
    await text(mine, 'until grep -q ":$1 " /proc/net/tcp; do sleep 0.01; done', [port.toString(16).toUpperCase()])
    const stream = await mine.connect(port)
    stream.write('hello')
    assert.equal(String(await new Promise((resolve) => stream.once('data', resolve))), 'hello')
    stream.destroy()
    await server.kill(0)
    await assert.rejects(mine.connect(port + 1), new RegExp(`${port + 1}`))
  })
}
