/*
 * What every driver promises, as tests. A driver's own test file calls `conformance` with how to open one; what only
 * this kind can show (nothing left in /proc, in the mounts) comes back through `Opened`.
 */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { fileConformance } from './conformance-files.ts'
import type { Opened, Sentence } from './conformance-sentence.ts'
import { shellConformance } from './conformance-shell.ts'
import type { Hands, SandboxSpec, Seen } from './driver.ts'
import { probes } from './probes.ts'

export const mebibyte = 2 ** 20

export const specOf = (more: Partial<SandboxSpec> = {}): SandboxSpec => ({
  id: randomUUID(),
  image: null,
  env: {},
  limits: { memory: 256 * mebibyte, processes: 96, cpu: 1, disk: 512 * mebibyte },
  workingDir: '/workspace',
  ...more,
})

export const limit = (): AbortSignal => AbortSignal.timeout(50_000)

/** One driver and one sandbox for all tests that do no harm to it. */
export function conformance(name: string, open: () => Promise<Opened>): void {
  let opened: Opened
  const shared = specOf({ env: { GREETING: "it's" }, gitIdentity: { name: 'Ada "A"', email: 'ada@example.test' } })
  const hands = (): Promise<Hands> => opened.driver.hands(shared.id)
  before(async () => {
    opened = await open()
    await opened.driver.start(shared, limit())
  })
  after(async () => {
    await opened?.driver.remove(shared.id)
    await opened?.close()
  })
  const sentence = (text: string, work: (opened: Opened) => Promise<void>) =>
    test(`${name}: ${text}`, () => work(opened))
  const withSandbox = async (more: Partial<SandboxSpec>, work: (spec: SandboxSpec, hands: Hands) => Promise<void>) => {
    const spec = specOf(more)
    await opened.driver.start(spec, limit())
    try {
      await work(spec, await opened.driver.hands(spec.id))
    } finally {
      await opened.driver.remove(spec.id)
    }
  }

  lifeCycle(sentence, withSandbox)
  processes(sentence, withSandbox, hands)
  isolation(sentence, hands)
  limits(sentence, withSandbox)
  fileConformance(sentence, hands)
  shellConformance(sentence, hands)
}

type WithSandbox = (
  more: Partial<SandboxSpec>,
  work: (spec: SandboxSpec, hands: Hands) => Promise<void>,
) => Promise<void>

const text = async (hands: Hands, script: string, args: string[] = []) =>
  (await hands.run({ script, args, timeoutMs: 20_000 })).stdout.toString()

function lifeCycle(sentence: Sentence, withSandbox: WithSandbox): void {
  sentence('starting, looking, pausing and removing can be done twice', async ({ driver, leftovers }) => {
    const spec = specOf()
    assert.equal((await driver.look(spec.id)).state, 'missing')
    await driver.remove(spec.id)
    await Promise.all([driver.start(spec, limit()), driver.start(spec, limit())])
    assert.equal((await driver.look(spec.id)).state, 'running')
    assert.ok((await driver.list()).some(({ id }) => id === spec.id))
    await driver.pause(spec.id)
    await driver.pause(spec.id)
    assert.equal((await driver.look(spec.id)).state, 'paused')
    await assert.rejects(driver.hands(spec.id), { name: 'SandboxGone' })
    await driver.resume(spec, limit())
    await driver.resume(spec, limit())
    assert.equal((await driver.look(spec.id)).state, 'running')
    await driver.remove(spec.id)
    await driver.remove(spec.id)
    assert.equal((await driver.look(spec.id)).state, 'missing')
    assert.deepEqual(await leftovers(spec.id), [])
  })

  sentence('an id that is no UUID and a working directory of the system are refused', async ({ driver }) => {
    await assert.rejects(driver.start(specOf({ id: '../../etc' }), limit()))
    for (const workingDir of ['/usr/x', 'relative', '/a/../etc', '/tmp/x', '/']) {
      await assert.rejects(driver.start(specOf({ workingDir }), limit()), /working directory/)
    }
  })

  sentence('a start that is cancelled leaves nothing running', async ({ driver }) => {
    const spec = specOf()
    await assert.rejects(driver.start(spec, AbortSignal.abort(new Error('cancelled'))), /cancelled/)
    assert.notEqual((await driver.look(spec.id)).state, 'running')
    await driver.remove(spec.id)
  })

  sentence('nothing ticks while paused, and it goes on afterwards', ({ driver }) =>
    withSandbox({}, async (spec, hands) => {
      const ticker = hands.spawn({ argv: ['sh', '-c', '(while :; do echo . >>ticks; sleep 0.01; done) & wait'] })
      while (Number(await text(hands, 'wc -c </workspace/ticks 2>/dev/null || echo 0')) < 4)
        await new Promise(setImmediate)
      let heard = 0
      const loud = hands.spawn({ argv: ['sh', '-c', 'while :; do echo .; sleep 0.005; done'] })
      loud.stdout.on('data', () => heard++)
      await driver.pause(spec.id)
      await new Promise((resolve) => setTimeout(resolve, 100)) // what was already in the pipe
      const before_ = heard
      await new Promise((resolve) => setTimeout(resolve, 300))
      assert.equal(heard, before_)
      await driver.resume(spec, limit())
      await new Promise((resolve) => loud.stdout.once('data', resolve))
      await Promise.all([ticker.kill(0), loud.kill(0)])
    }),
  )

  sentence('files outlive a sandbox that ends, and its end is told', ({ driver }) =>
    withSandbox({}, async (spec, hands) => {
      await hands.files.write('/workspace/kept', Buffer.from('1'))
      const told = new Promise<Seen>((resolve) => driver.onEnd((seen) => seen.id === spec.id && resolve(seen)))
      await endFromInside(hands)
      assert.equal((await told).state, 'stopped')
      assert.equal((await driver.look(spec.id)).state, 'stopped')
      await assert.rejects(driver.hands(spec.id), { name: 'SandboxGone' })
      await driver.start(spec, limit())
      assert.equal(String(await (await driver.hands(spec.id)).files.read('/workspace/kept')), '1')
    }).catch((error: unknown) => {
      throw error
    }),
  )
}

/** Overridden by what a driver allows: process 1 cannot be ended from inside, so the test asks the host. */
let endFromInside: (hands: Hands) => Promise<void> = () => Promise.resolve()
export const howASandboxEnds = (how: (hands: Hands) => Promise<void>): void => {
  endFromInside = how
}

function processes(sentence: Sentence, withSandbox: WithSandbox, hands: () => Promise<Hands>): void {
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
      assert.equal(
        await text(
          mine,
          'for p in /proc/[0-9]*; do tr "\\0" " " <$p/cmdline 2>/dev/null | grep -c "^sleep 4321" ; done | grep -c 1 || true',
        ),
        '0\n',
      )
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

  sentence('a process gets long and odd arguments and variables whole', async () => {
    const odd = 'é✓\\n "$(id)" `id` \'q\'\n\nlast\n'
    const long = `${odd}${'x'.repeat(90_000)}`
    const script = 'printf "%s|%s|%s" "$1" "$2" "$LONG"; ls /proc/$$/fd/3 >&2'
    const one = (await hands()).spawn({ argv: ['sh', '-c', script, 'sh', odd, long], env: { LONG: long } })
    const [out, err] = await Promise.all([collect(one.stdout), collect(one.stderr)])
    assert.equal(out, `${odd}|${long}|${long}`)
    assert.match(err, /cannot access/)
  })

  sentence('run gives code, both outputs and nothing of the run before', async () => {
    const mine = await hands()
    await mine.run({ script: 'cd /tmp; X=1; export X; exec 2>/dev/null; set -e; false' })
    const result = await mine.run({
      script: 'printf "%s|" "$PWD" "$X" "$@"; echo oops >&2; exit 9',
      args: ["a'b", '', 'c\nd'],
      cwd: '/workspace',
    })
    assert.deepEqual(
      { ...result, stdout: String(result.stdout) },
      { code: 9, stdout: "/workspace||a'b||c\nd|", stderr: 'oops\n', truncated: false, timedOut: false },
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
    const server = mine.spawn({ argv: ['socat', 'TCP-LISTEN:8123,bind=127.0.0.1,fork,reuseaddr', 'EXEC:cat'] })
    await text(mine, 'until grep -q :1FBB /proc/net/tcp; do sleep 0.01; done')
    const stream = await mine.connect(8123)
    stream.write('hello')
    assert.equal(String(await new Promise((resolve) => stream.once('data', resolve))), 'hello')
    stream.destroy()
    await server.kill(0)
    await assert.rejects(mine.connect(8124), /8124/)
  })
}

function isolation(sentence: Sentence, hands: () => Promise<Hands>): void {
  for (const { name, script } of probes) {
    sentence(name, async () => {
      const folder = await mkdtemp(join(tmpdir(), 'probe-'))
      const server = createServer((socket) => socket.destroy())
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
      try {
        await writeFile(join(folder, 'secret'), 'host', { mode: 0o600 })
        const { port } = server.address() as AddressInfo
        assert.equal(await text(await hands(), script, [String(port), join(folder, 'secret')]), '')
      } finally {
        server.close()
        await rm(folder, { recursive: true })
      }
    })
  }

  sentence('a host that the policy allows is reached through the proxy, another is refused by name', async () => {
    const ask = `{ printf 'GET http://%s/ HTTP/1.0\\r\\n\\r\\n' "$1"; sleep 0.5; } | socat -T5 - TCP4:127.0.0.1:3128`
    assert.match(await text(await hands(), ask, ['allowed.test']), /^HTTP\/1\.1 200 [^]*hello from outside/)
    assert.match(
      await text(await hands(), ask, ['refused.test']),
      /^HTTP\/1\.1 403 [^]*X-Parley-Egress: refused[^]*refused\.test/,
    )
  })

  sentence('the system configuration of git is ours', async () => {
    assert.equal(
      await text(await hands(), 'git config --system user.name; git config --system protocol.allow'),
      'Ada "A"\nnever\n',
    )
  })
}

function limits(sentence: Sentence, withSandbox: WithSandbox): void {
  sentence('a fork bomb ends at the limit, and others go on', async ({ limits: held, driver }) => {
    if (!held) return
    await withSandbox(
      { limits: { memory: 256 * mebibyte, processes: 48, cpu: 1, disk: 64 * mebibyte } },
      async (spec, mine) => {
        await mine.run({ script: 'b() { b | b & }; b; sleep 0.5', timeoutMs: 3_000 })
        assert.match((await driver.look(spec.id)).detail ?? '', /limit of 48 processes/)
      },
    )
  })

  sentence('a memory bomb is killed, the sandbox is not, and the limit is named', async ({ limits: held, driver }) => {
    if (!held) return
    await withSandbox(
      { limits: { memory: 64 * mebibyte, processes: 64, cpu: 1, disk: 64 * mebibyte } },
      async (spec, mine) => {
        const { code } = await mine.run({
          script: 'x=$(head -c 200000000 /dev/zero | tr "\\0" x); echo ${#x}',
          timeoutMs: 20_000,
        })
        assert.notEqual(code, 0)
        assert.match((await driver.look(spec.id)).detail ?? '', /out of memory.* 64 MiB/)
        assert.equal(await text(mine, 'echo alive'), 'alive\n')
      },
    )
  })

  sentence('no file grows beyond the disk limit', () =>
    withSandbox({ limits: { memory: 256 * mebibyte, processes: 64, cpu: 1, disk: 4 * mebibyte } }, async (_, mine) => {
      await mine.run({ script: 'head -c 9000000 /dev/zero >/workspace/big' })
      assert.equal((await mine.files.stat('/workspace/big'))?.size, 4 * mebibyte)
    }),
  )
}

export async function collect(stream: AsyncIterable<Buffer>): Promise<string> {
  const parts: Buffer[] = []
  for await (const part of stream) parts.push(part)
  return Buffer.concat(parts).toString()
}
