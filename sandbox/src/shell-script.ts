import { exports, quote, variable } from './quote.ts'

/*
 * The loop that a persistent shell runs. Everything it reads is counted lines after a line that starts with the shell's
 * own secret, so input that a command left unread is skipped and never executed. The loop keeps three descriptors of its
 * own (6 output, 7 results) that commands do not have. It says when a command begins, because an interrupt before that
 * would lose the command's text on the way and its result with it. A command runs in a loop of one turn, so that a stray
 * `break` ends the command and not the shell. After a command `set -e`, `-u` and `-x` are off again: with one of them left
 * on, the next failing command would end the shell.
 *
 * An interrupt of the shell itself breaks out of the loops around it, and the next copy of this loop says so. That is not
 * enough: bash heeds a trap only once the next part has begun, and in a function `break` sees the function's loops alone. So
 * until then bash is also told to skip every command (a DEBUG trap that fails, with `extdebug`) but those that name us.
 */
export const shellLoop = (secret: string, cwd: string): string => `cd -- ${quote(cwd)} 2>/dev/null || cd /
unset OLDPWD
exec 6>&1 7>&2 2>&1
trap '${onInterrupt}' INT
if [ -n "$BASH_VERSION" ]; then
  __parley_skip=${quote(skip)} __parley_calm=${quote(calm)}
fi
__parley_loop=${quote(loop(secret))}
${'eval "$__parley_loop"\n'.repeat(interrupts)}`

/** Nothing of the user's is under way before a command begins and once it has ended. */
const onInterrupt = 'if [ -n "$__parley_runs" ]; then eval "$__parley_skip"; break 99 2>/dev/null; fi'
const skip = `trap '[[ $BASH_COMMAND == *__parley* ]] || ! break 99 2>/dev/null' DEBUG; shopt -s extdebug`
const calm = '__parley_word= trap - DEBUG; shopt -u extdebug; set +ET'

/** So often can a command be interrupted before the shell has to be opened anew. */
const interrupts = 1000

const loop = (secret: string) => `eval "$__parley_calm"
if [ -n "$__parley_mark" ]; then ${report(130)}; fi
while IFS= read -r __parley_line || exit 0; do
  case $__parley_line in "${secret} "*) ;; *) continue ;; esac
  __parley_head=\${__parley_line#* }
  __parley_mark=\${__parley_head%% *}
  __parley_head=\${__parley_head#* }
  __parley_after=\${__parley_head% *} __parley_left=\${__parley_head#* }
  __parley_text=
  while [ "$__parley_left" -gt 0 ]; do
    IFS= read -r __parley_line || exit 0
    __parley_text=$__parley_text$__parley_line'
'
    __parley_left=$((__parley_left - 1))
  done
  __parley_left=$__parley_after __parley_after=
  while [ "$__parley_left" -gt 0 ]; do
    IFS= read -r __parley_line || exit 0
    __parley_after=$__parley_after$__parley_line'
'
    __parley_left=$((__parley_left - 1))
  done
  __parley_runs=1
  printf '%s\\035' "$__parley_mark" >&7
  for __parley_once in 1; do command eval "$__parley_text" 6>&- 7>&-; done
  { __parley_code=$?; set +eux; } 2>/dev/null
  command eval "$__parley_after"
  ${report('$__parley_code')}
done`

const report = (code: number | string) =>
  `{ __parley_runs=; printf '\\036%s\\036' "$__parley_mark" >&6; printf '%s %s %s %s\\036' "$__parley_mark" ${code} $$ "$PWD" >&7; __parley_mark=; }`

/** Starts bash where there is one, else sh; in `/` when the folder is not there. */
export const shellArgv = (secret: string, cwd: string): [string, ...string[]] => [
  '/bin/sh',
  '-c',
  'if command -v bash >/dev/null 2>&1; then exec bash --noprofile --norc -c "$1" bash; else exec sh -c "$1" sh; fi',
  'sh',
  shellLoop(secret, cwd),
]

/** A command as the loop reads it. Variables are put back as they were when the command has ended. */
export function frame(secret: string, mark: string, command: string, env: Record<string, string> = {}): string {
  const names = Object.keys(env).map(variable)
  const save = names.map((name) => `__parley_had_${name}=\${${name}+x} __parley_old_${name}=\${${name}-}\n`).join('')
  const text = names.length === 0 ? command : `${save}${exports(env)}eval ${quote(command)}`
  const after = names.map(putBack).join('\n')
  const lines = text.split('\n')
  const afterLines = after === '' ? [] : after.split('\n')
  if (text.includes('\0')) throw new Error('a NUL byte cannot be passed to a shell')
  // The empty line first ends whatever an earlier command left unread without a line end.
  return ['', `${secret} ${mark} ${afterLines.length} ${lines.length}`, ...lines, ...afterLines, ''].join('\n')
}

const putBack = (name: string) =>
  `if [ -n "$__parley_had_${name}" ]; then ${name}=$__parley_old_${name}; else unset ${name}; fi; unset __parley_had_${name} __parley_old_${name}`
