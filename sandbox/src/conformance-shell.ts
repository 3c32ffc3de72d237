import assert from 'node:assert/strict'
import { programs, type Sentence } from './conformance-sentence.ts'
import type { Hands, Shell, ShellResult } from './driver.ts'

/** The persistent shell, as every driver promises it. */
export function shellConformance(sentence: Sentence, hands: () => Promise<Hands>): void {
  const inShell = (text: string, work: (shell: Shell, hands: Hands) => Promise<void>) =>
    sentence(text, async () => {
      const mine = await hands()
      const shell = await mine.shell({ cwd: mine.layout.workspace })
      try {
        await work(shell, mine)
      } finally {
        await shell.close()
      }
    })
  const ended = ({ end, exitCode, output }: ShellResult) => [end, exitCode, output]

  inShell('folder, variables and functions stay from command to command', async (shell, { layout }) => {
    const first = await shell.run({ command: 'mkdir -p d && cd d && V=1 && f() { echo "f $V"; }; false' })
    assert.deepEqual([...ended(first), first.cwd], ['exited', 1, '', `${layout.workspace}/d`])
    assert.deepEqual(ended(await shell.run({ command: 'f; pwd' })), ['exited', 0, `f 1\n${layout.workspace}/d\n`])
  })

  inShell('both outputs come in the order they were printed, as they come', async (shell) => {
    let heard = ''
    const command = 'echo 1; echo 2 >&2; echo 3; echo 4 >&2'
    const { output } = await shell.run({ command, onOutput: (piece) => (heard += piece) })
    assert.deepEqual([output, heard], ['1\n2\n3\n4\n', '1\n2\n3\n4\n'])
  })

  inShell('a variable for one command is gone after it', async (shell) => {
    await shell.run({ command: 'KEEP=old' })
    assert.equal(
      (await shell.run({ command: 'echo "$T $KEEP"; sh -c \'echo $T\'', env: { T: "s'1", KEEP: 'new' } })).output,
      "s'1 new\ns'1\n",
    )
    assert.equal((await shell.run({ command: 'echo "${T-unset} $KEEP"' })).output, 'unset old\n')
  })

  inShell('strange commands end and leave a working shell', async (shell) => {
    const commands = [
      'echo "open',
      "echo 'open",
      'if true; then',
      '(',
      ')',
      'break',
      'continue',
      'break 2',
      'return',
      'set -u; echo $NONE',
      'set -x',
      'exec >/dev/null; echo lost',
      'exec 3>&- 6>&- 7>&- 2>&-',
      'trap "echo bye" EXIT; false',
      'echo forged >&7; echo forged >&3',
      'cat <<X\nline\nX',
      '# only a comment',
      '',
      'set -- a b; shift 5',
      'alias echo=false',
      'IFS=x',
      'unset PATH',
    ]
    for (const command of commands) {
      const mine = await shell.run({ command, timeoutMs: 5_000 })
      assert.ok(mine.end === 'exited' || mine.end === 'died', `${command}: ${mine.end}`)
    }
  })

  inShell('a here document and 200 lines are one command', async (shell) => {
    const lines = Array.from({ length: 200 }, (_, at) => `echo ${at}`).join('\n')
    assert.equal((await shell.run({ command: `cat <<'X'\n$HOME 'q'\nX\n${lines}` })).output.split('\n').length, 202)
  })

  inShell(
    'exit ends the shell and not the conversation: the next one stands in the same folder',
    async (shell, { layout }) => {
      await shell.run({ command: 'mkdir -p e; cd e' })
      for (const command of ['exit 3', 'set -e; false; echo no', 'exec true', 'kill -9 $$']) {
        const { end, exitCode, output } = await shell.run({ command, timeoutMs: 5_000 })
        assert.deepEqual([end, exitCode, output], ['died', null, ''], command)
        assert.equal((await shell.run({ command: 'pwd' })).output, `${layout.workspace}/e\n`)
      }
    },
  )

  inShell('a command that goes quiet is running: it takes input, and more of it can be waited for', async (shell) => {
    const first = await shell.run({ command: 'echo name?; read n; echo "hello $n"; read m; echo "$m"', quietMs: 150 })
    assert.deepEqual([...ended(first), shell.busy], ['running', null, 'name?\n', true])
    await assert.rejects(shell.run({ command: 'true' }), { name: 'ShellBusy' })
    await shell.input('ada\n')
    assert.deepEqual(ended(await shell.wait({ quietMs: 150 })), ['running', null, 'hello ada\n'])
    await shell.input('bye\n')
    assert.deepEqual(ended(await shell.wait({})), ['exited', 0, 'bye\n'])
    await assert.rejects(shell.input('x'), /no command/)
  })

  inShell('a command that goes on printing can be left to run after a while', async (shell) => {
    const first = await shell.run({ command: 'while [ ! -e stop ]; do echo on; sleep 0.02; done', waitMs: 200 })
    assert.deepEqual([first.end, first.exitCode, shell.busy], ['running', null, true])
    assert.match(first.output, /^(on\n)+$/)
    const stop = AbortSignal.timeout(100)
    assert.equal((await shell.wait({ waitMs: 10_000, signal: stop })).end, 'interrupted')
  })

  inShell('input that a command left unread is never executed', async (shell) => {
    await shell.run({ command: 'sleep 0.3', quietMs: 50 })
    await shell.input('touch "$PARLEY_WORKSPACE/executed"\nunfinished')
    await shell.wait({})
    assert.deepEqual(ended(await shell.run({ command: 'ls "$PARLEY_WORKSPACE/executed" 2>/dev/null' })).slice(0, 3), [
      'exited',
      2,
      '',
    ])
  })

  inShell('a time limit and a signal end the whole command, and the shell keeps what it had', async (shell) => {
    await shell.run({ command: 'V=kept; cd /tmp' })
    for (const command of [
      'sleep 60; echo after',
      'while :; do :; done',
      'for i in 1 2 3; do sleep 60; done',
      'sh -c "trap \'\' INT; sleep 60 & wait; sleep 60"',
      'cat',
    ]) {
      const cut = await shell.run({ command, timeoutMs: 200 })
      assert.deepEqual([cut.end, cut.output.includes('after')], ['timed_out', false], command)
      assert.deepEqual(ended(await shell.run({ command: 'echo "$V $PWD"' })), ['exited', 0, 'kept /tmp\n'], command)
    }
    const cancel = AbortSignal.timeout(100)
    assert.equal((await shell.run({ command: 'sleep 60', signal: cancel })).end, 'interrupted')
    assert.equal((await shell.run({ command: 'echo "$V"' })).output, 'kept\n')
  })

  inShell(
    'a program that takes an interrupt for an orderly end does not lead on to the next one, nor does a read',
    async (shell) => {
      const calm = `sh -c 'trap "exit 0" INT; echo up; sleep 60 & wait'; echo after`
      const stop = new AbortController()
      const { end, output } = await shell.run({ command: calm, signal: stop.signal, onOutput: () => stop.abort() })
      assert.deepEqual([end, output], ['interrupted', 'up\n'])
      const reading = await shell.run({ command: 'V=kept; read x; echo after', timeoutMs: 100 })
      assert.deepEqual([reading.end, reading.output], ['timed_out', ''])
      assert.equal((await shell.run({ command: 'echo "$V"' })).output, 'kept\n')
    },
  )

  inShell(
    'an interrupt at any moment lets no later part of the command begin, not in a function either',
    async (shell) => {
      await shell.run({
        command: 'f() { while [ $n -lt 1000000 ]; do n=$((n+1)); done; touch late; }; g() { f; touch late; }',
      })
      for (let at = 0; at < 30; at++) {
        const stop = new AbortController()
        const run = shell.run({ command: 'n=0; { while true; do g; done; }; touch late', signal: stop.signal })
        setTimeout(() => stop.abort(), at / 3)
        assert.equal((await run).end, 'interrupted')
        const { output, exitCode } = await shell.run({ command: 'false; ls late 2>/dev/null || echo none' })
        assert.deepEqual([output, exitCode], ['none\n', 0])
      }
      const waiting = 'h() { echo up; sleep 60; echo after; }; h; echo after'
      const stop = new AbortController()
      const { output } = await shell.run({ command: waiting, signal: stop.signal, onOutput: () => stop.abort() })
      assert.equal(output, 'up\n')
      assert.deepEqual(ended(await shell.run({ command: 'shopt -q extdebug; trap -p DEBUG; echo $?' })), [
        'exited',
        0,
        '0\n',
      ])
    },
  )

  inShell('an interrupt at any moment of a start ends all of it within 2 s, by INT alone', async (shell, mine) => {
    await shell.run({ command: 'V=kept; cd /tmp' })
    for (let at = 0; at < 40; at++) {
      const stop = new AbortController()
      const command = `(trap '' TERM; exec sleep 54${at}1)`
      const run = shell.run({ command, signal: stop.signal })
      const asked = performance.now()
      setTimeout(() => stop.abort(), at / 5)
      const { end, output } = await run
      assert.deepEqual([end, output], ['interrupted', ''])
      assert.ok(performance.now() - asked < 2_000, 'ended by INT, before TERM')
    }
    assert.deepEqual(ended(await shell.run({ command: 'echo "$V $PWD"' })), ['exited', 0, 'kept /tmp\n'])
    const late = `sh -c 'trap "" INT TERM; echo up; sleep 0.3; trap - INT; exec sleep 5499'`
    const stop = new AbortController()
    const asked = performance.now()
    const { end } = await shell.run({ command: late, signal: stop.signal, onOutput: () => stop.abort() })
    assert.equal(end, 'interrupted')
    assert.ok(performance.now() - asked < 2_000, 'INT is sent again')
    assert.equal(await programs(mine, 'sleep 54'), 0)
  })

  inShell(
    '100 MB of output: the ends are kept, the whole is in the log, the memory does not grow with it',
    async (shell, mine) => {
      const before = process.memoryUsage().rss
      const large = await shell.run({
        command: 'echo first; head -c 100000000 /dev/zero | tr "\\0" x; echo; echo last',
      })
      assert.equal(large.outputLength, 100_000_012)
      assert.ok(
        large.output.length < 300_000 && large.output.startsWith('first\nxxx') && large.output.endsWith('xxx\nlast\n'),
      )
      assert.ok(process.memoryUsage().rss - before < 150 * 2 ** 20)
      const { path, from, to } = large.log
      assert.equal(to - from, 100_000_012)
      assert.equal(String(await mine.files.read(path, { from: to - 5, length: 5 })), 'last\n')
    },
  )

  inShell('of 30 KB of output the whole is in the log, what was printed before it too', async (shell, mine) => {
    await shell.run({ command: 'echo before' })
    const { log, output } = await shell.run({ command: 'head -c 30000 /dev/zero | tr "\\0" x' })
    assert.deepEqual([output.length, log.from, log.to], [30_000, 7, 30_007])
    assert.equal(String(await mine.files.read(log.path)), `before\n${output}`)
    await shell.run({ command: 'echo between' })
    const again = await shell.run({ command: 'head -c 31000 /dev/zero | tr "\\0" y' })
    assert.equal(String(await mine.files.read(log.path)), `before\n${output}between\n${again.output}`)
  })

  inShell('bytes that are no text become replacement characters, and characters are never cut', async (shell) => {
    assert.equal((await shell.run({ command: "printf 'a\\377b\\n'" })).output, 'a\ufffdb\n')
    const { output } = await shell.run({
      command: "i=0; while [ $i -lt 3000 ]; do printf '\\342\\202\\254'; i=$((i+1)); done",
    })
    assert.equal(output, '€'.repeat(3000))
  })

  inShell('a background process goes on printing while other commands run', async (shell) => {
    await shell.run({ command: '(while :; do echo tick; sleep 0.01; done) &' })
    await shell.run({ command: 'sleep 0.1' })
    const { output, end } = await shell.run({ command: 'sleep 0.1; echo mine' })
    assert.ok(end === 'exited' && output.includes('tick\n') && output.includes('mine\n'))
  })
}
