/*
 * Commands in the background. All that is known of a job stands in a folder inside the sandbox (its command, its output,
 * its code), so that whoever has the sandbox's hands can look after it: another worker, or the same one after a crash. What
 * a job started is found by a mark in its environment.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Job, JobCommand, JobOutput, Jobs, RunCommand, RunResult } from './driver.ts'
import { SandboxGone } from './driver.ts'
import { quote } from './quote.ts'
import type { Spawn } from './worker.ts'

const mostJobs = 500
const startMs = 10_000
const callMs = 10_000
/** Between signals that ask a job to end, and before it is made to. */
const graceMs = 1_500
/** The part of a command that a list shows. */
const commandLimit = 500

/**
 * `$1` command, `$2` a script with variables for it or nothing. The program that waits for the job does not carry the mark,
 * so that it is left to write down how the job ended.
 */
const startScript = (folder: string) => `umask 077
mkdir -p ${quote(folder)} && cd ${quote(folder)} || exit 1
n=1; until mkdir "$n" 2>/dev/null; do n=$((n + 1)); [ $n -le ${mostJobs} ] || exit 2; done
d=$PWD/$n
printf %s "$1" >"$d/command" && mkfifo "$d/in" || exit 1
echo "$$ $(cut -d ' ' -f 22 /proc/$$/stat)" >"$d/pid"
cd -- "$PARLEY_JOB_CWD" 2>/dev/null || cd /
unset PARLEY_JOB_CWD
if [ -n "$2" ]; then . "$2"; rm -f -- "$2"; fi
printf '%s\\n' "$n"
exec >"$d/out" 2>&1 <>"$d/in"
shell=sh; command -v bash >/dev/null 2>&1 && shell=bash
PARLEY_JOB=$n PARLEY_JOB_FOLDER=$d PYTHONUNBUFFERED=1 $shell -c "$1"
echo $? >"$d/code.part" && mv "$d/code.part" "$d/code"
rm -f "$d/in"`

/** `state N` prints code, whether it runs, and bytes of output. Without a code and a program that waits it was cut off. */
const state = (folder: string) => `state() {
  code=-; [ ! -e "$1/code" ] || code=$(cat "$1/code")
  read -r pid born 2>/dev/null <"$1/pid" || pid=
  alive=no
  [ "$code" != - ] || [ -z "$pid" ] || [ "$(cut -d ' ' -f 22 "/proc/$pid/stat" 2>/dev/null)" != "$born" ] || alive=yes
  size=$(stat -c %s "$1/out" 2>/dev/null || echo 0)
}
cd ${quote(folder)} 2>/dev/null || exit 3
`
const listScript = `for n in $(ls | sort -n); do
  state "$n"; printf '%s %s %s %s %s\\0' "$n" "$code" "$alive" "$size" "$(head -c ${commandLimit} "$n/command")"
done`
/** `$1` job, `$2` byte to read from or nothing for the last ones, `$3` most bytes, `$4` tenths of a second to wait for more. */
const readScript = `[ -d "$1" ] || exit 3
i=0
while state "$1"; [ $i -lt "$4" ] && [ $alive = yes ] && [ "$size" -le "\${2:-0}" ]; do sleep 0.1; i=$((i + 1)); done
from=\${2:-$((size > $3 ? size - $3 : 0))}
printf '%s %s %s %s\\n' "$code" "$alive" "$size" "$from"
tail -c "+$((from + 1))" "$1/out" 2>/dev/null | head -c "$3"`
const writeScript = `[ -d "$1" ] || exit 3
state "$1"; [ $alive = yes ] || exit 4
printf %s "$2" >"$1/in"`
/** `$1` job, `$2` signal. Exit code 4: nothing of it is left. */
const signalScript = `[ -d "$1" ] || exit 3
found=
for e in $(grep -lsa "PARLEY_JOB_FOLDER=$PWD/$1" /proc/[0-9]*/environ); do
  p=\${e#/proc/}; p=\${p%/environ}
  tr '\\0' '\\n' <"$e" 2>/dev/null | grep -qxF "PARLEY_JOB_FOLDER=$PWD/$1" && kill -"$2" "$p" 2>/dev/null && found=1
done
[ -n "$found" ] || exit 4`

type Run = (command: RunCommand) => Promise<RunResult>

/** @param folder Inside; made when it is needed. */
export function jobsOver(spawn: Spawn, run: Run, folder: string): Jobs {
  const call = async (script: string, args: string[], more: Partial<RunCommand> = {}) => {
    if (!/^\d*$/.test(args[0] ?? '')) return { code: 3, stdout: Buffer.alloc(0) }
    const result = await run({ script: `${state(folder)}${script}`, args, timeoutMs: callMs, ...more })
    if (result.timedOut) throw new SandboxGone('the sandbox does not answer')
    return result
  }
  return {
    start: (command) => start(spawn, command, folder),

    async list() {
      const { code, stdout } = await call(listScript, [])
      return code === 3 ? [] : stdout.toString('utf8').split('\0').filter(Boolean).map(listed)
    },

    async read(id, { from, maxBytes, waitMs = 0, signal }) {
      const tenths = Math.ceil(waitMs / 100)
      const args = [id, from === undefined ? '' : String(from), String(maxBytes), String(tenths)]
      const more = { timeoutMs: callMs + waitMs, ...(signal === undefined ? {} : { signal }) }
      const { code, stdout } = await call(readScript, args, more)
      return code === 0 ? output(stdout) : null
    },

    write: async (id, text) => (await call(writeScript, [id, text])).code === 0,

    async stop(id) {
      for (const signal of ['INT', 'TERM', 'KILL']) {
        const { code } = await call(signalScript, [id, signal])
        if (code === 3) return false
        for (const end = performance.now() + graceMs; code === 0 && performance.now() < end;) {
          await sleep(50)
          if ((await call(signalScript, [id, '0'])).code !== 0) break
        }
      }
      return true
    },
  }
}

/** Resolves with the job's number when its folder is there. */
async function start(spawn: Spawn, job: JobCommand, folder: string): Promise<string> {
  const { command, cwd, env = {}, variables = '' } = job
  const process = spawn({
    argv: ['/bin/sh', '-c', startScript(folder), 'sh', command, variables],
    cwd: '/',
    env: { ...env, PARLEY_JOB_CWD: cwd },
  })
  process.stdin.end()
  process.stderr.resume()
  const said = Promise.withResolvers<string>()
  let text = ''
  process.stdout.setEncoding('utf8').on('data', (piece: string) => {
    text = (text + piece).slice(0, 100)
    if (text.includes('\n')) said.resolve(text.trim())
  })
  void process.ended.then(({ code }) => {
    const why = code === 2 ? `there are ${mostJobs} jobs already` : 'its folder cannot be made'
    said.reject(new Error(`the job did not start: ${why}`))
  })
  const late = setTimeout(() => {
    said.reject(new SandboxGone('the sandbox does not answer'))
    void process.kill(0)
  }, startMs)
  return said.promise.finally(() => clearTimeout(late))
}

const status = (code: string, alive: string): Pick<Job, 'running' | 'code'> => ({
  running: alive === 'yes',
  code: code === '-' ? null : Number(code),
})

function listed(line: string): Job {
  const [id = '', code = '-', alive = 'no', size = '0', ...command] = line.split(' ')
  return { id, command: command.join(' '), size: Number(size), ...status(code, alive) }
}

function output(stdout: Buffer): JobOutput {
  const end = stdout.indexOf('\n')
  const [code = '-', alive = 'no', size, from] = stdout.subarray(0, end).toString().split(' ')
  const bytes = stdout.subarray(end + 1)
  return { ...status(code, alive), bytes, size: Number(size), from: Number(from) }
}
