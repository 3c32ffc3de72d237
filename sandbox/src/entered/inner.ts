import type { Command } from '../driver.ts'
/*
 * Programs of ours inside a container, in any POSIX shell: an engine starts a program there, but neither ends all that it
 * started nor tells its end while something of it still holds its output. They use builtins only where a sandbox that has
 * used up its processes must still be brought to order.
 */
import { inside } from '../inside.ts'
import { exports, quote } from '../quote.ts'

/** In the environment of everything that one `spawn` started. */
const markName = 'PARLEY_SPAWN'

/**
 * `members PID MARK` sets $found to the numbers of all that descend from PID or carry the mark, without PID itself, and
 * $parents to `number:parent` of every process. `sweep` stops them all, so that none can start another, and kills them.
 */
const library = `marked() {
  while IFS= read -r e || [ -n "$e" ]; do case $e in *"${markName}=$2"*) return 0;; esac; done <"/proc/$1/environ"
  return 1
} 2>/dev/null
members() {
  parents= known=" $1 "
  for f in /proc/[0-9]*/status; do
    p=\${f#/proc/} p=\${p%/status}
    while read -r k v _; do
      case $k in
        State:) case $v in Z|X) break;; esac;;
        PPid:) parents="$parents $p:$v"; [ "$v" != 1 ] || ! marked "$p" "$2" || known="$known$p "; break;;
      esac
    done <"$f"
  done 2>/dev/null
  before=
  while [ "$known" != "$before" ]; do
    before=$known
    for e in $parents; do
      case $known in *" \${e#*:} "*) case $known in *" \${e%:*} "*) ;; *) known="$known\${e%:*} ";; esac;; esac
    done
  done
  found=
  for p in $known; do [ "$p" = "$1" ] || found="$found $p"; done
}
sweep() {
  seen=none rounds=0
  members "$1" "$2"
  while [ "$found" != "$seen" ] && [ $rounds -lt 100 ]; do
    [ -z "$found" ] || kill -STOP $found
    seen=$found rounds=$((rounds + 1))
    members "$1" "$2"
  done
  [ -z "$found" ] || kill -KILL $found
} 2>/dev/null
`

/**
 * Hands on what comes on descriptor 8 to a pipe with a name, which goes at once: `t N` before N lines of plain text, `b N` before N
 * bytes, anything else is the end. For an engine that cannot say that its input has ended.
 */
const feeding = {
  before: `exec 8<&0
in=/dev/shm/.parley-$1
mkfifo -m 600 "$in" || exit 125
trap '[ ! -p "$in" ] || rm -f "$in"' EXIT
feed() {
  rm -f "$in"
  while read -r kind n; do
    case $kind in
      t) while [ "$n" -gt 0 ]; do IFS= read -r line || return; printf '%s\\n' "$line"; n=$((n - 1)); done;;
      b) dd bs="$n" count=1 iflag=fullblock || return;;
      *) return;;
    esac
  done
}
`,
  start: `feed <&8 >"$in" 9>&- &
`,
  from: ' 8<&- <"$in"',
}
const direct = { before: '', start: '', from: '' }

/**
 * Says its mark and number, waits to be told what to become (or is told in $2), starts that as a child, ends what it left
 * behind, and ends with its code.
 */
const entry = ({ before, start, from }: typeof direct) => `${library}
exec 9>&2 2>/dev/null
trap : INT QUIT
mark=$1
export ${markName}="$mark"
${before}printf '%s %s;' "$mark" $$ >&9
if [ $# -gt 1 ]; then order=$2; else
  IFS= read -r lines || exit 0
  order=
  while [ "$lines" -gt 0 ]; do
    IFS= read -r line || exit 0
    order=$order$line'
' lines=$((lines - 1))
  done
fi
${start}(exec 2>&9 9>&-; eval "$order")${from}
code=$?
sweep $$ "$mark"
exit $code`
const [entryDirect, entryFed] = [entry(direct), entry(feeding)]

/**
 * How a process inside is begun. With an order it begins at once, else it waits for one on its standard input. `fed`: what
 * comes after that is to be said as `feeding` has it.
 */
export const entryArgv = (mark: string, order?: string, fed = false): string[] => [
  '/bin/sh',
  '-c',
  fed ? entryFed : entryDirect,
  'parley',
  mark,
  ...(order === undefined ? [] : [order]),
]

/** The order to become this program: folder, limits, variables, argv. Throws on what cannot be said in a shell. */
export function orderText({ argv, cwd, env = {}, terminal }: Command & { cwd: string }, limits: string): string {
  const size =
    terminal === undefined
      ? ''
      : `stty rows ${Math.trunc(terminal.rows)} cols ${Math.trunc(terminal.columns)} 2>/dev/null; `
  return `cd -- ${quote(cwd)} || exit 126; unset OLDPWD; ${limits}; ${size}${exports(env, '; ')}exec ${argv.map(quote).join(' ')}`
}

/** As it travels on standard input: the number of lines, and the lines. */
export const framed = (order: string): string => `${order.split('\n').length}\n${order}\n`

const port = inside.proxyPort.toString(16).toUpperCase().padStart(4, '0')

/**
 * Carries out requests of one line each, and answers with a line: `all PID MARK SIGNAL` to a process of ours with all that
 * it started, `below PID MARK SIGNAL` to what the program started, but not to itself; `hits` is answered with how many were
 * killed for want of memory and how many processes there are. Says `ready` when the way out listens.
 */
export const control = `${library}
listening() { while read -r _ at _; do case $at in *:${port}) return 0;; esac; done </proc/net/tcp; return 1; }
hits() {
  killed=0 there=0
  for f in /sys/fs/cgroup/memory.events /sys/fs/cgroup/memory/memory.oom_control; do
    [ ! -r $f ] || while read -r k v; do [ "$k" != oom_kill ] || killed=$v; done <$f
  done
  for p in /proc/[0-9]*; do there=$((there + 1)); done
  echo "$killed $there"
}
until listening; do sleep 0.01; done 2>/dev/null
echo ready
while read -r verb pid mark signal; do
  if [ "$verb" = hits ]; then hits; continue; fi
  {
    if [ "$verb $signal" = 'all KILL' ]; then sweep "$pid" "$mark"; else
      members "$pid" "$mark"
      for p in $found; do
        case "$verb $parents " in below*" $p:$pid "*) ;; *) kill -"$signal" "$p";; esac
      done
    fi
  } 2>/dev/null
  echo done
done`
