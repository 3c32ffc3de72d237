import type { Hands } from '@parley/sandbox/driver'
import { type LongCommand, lastLines, longCommand } from './command.ts'

/*
 * What is done to the workspace before the agent sees it. All of it runs in the sandbox, with values as arguments and never
 * as part of a script, and each may be done twice: a clone is made beside its place and then moved there.
 */

/** A start that cannot go on. `detail` is for the user and names the step by itself where that helps. */
export class StartFailed extends Error {
  override name = 'StartFailed'
}

type Bounds = Pick<LongCommand, 'timeoutMs' | 'signal' | 'hear'>

/** `$1` the place, `$2` beside it, `$3` the address, `$4` the branch or nothing, `$5` the branch to make without one. */
const cloneScript = `
set -e
if [ -e "$1/.git" ]; then exit 0; fi
rm -rf -- "$2"
mkdir -p -- "$(dirname -- "$1")"
if [ -n "$4" ]; then git clone --progress --branch "$4" -- "$3" "$2"; else git clone --progress -- "$3" "$2"; fi
if [ -z "$4" ]; then git -C "$2" switch -q -c "$5"; fi
if [ -d "$1" ]; then rmdir -- "$1"; fi
mv -- "$2" "$1"`

const refusedAccess =
  /authentication failed|could not read username|access denied|403|401|repository .* not found|not found/i

export interface Clone {
  dir: string
  url: string
  branch: string | null
  newBranch: string
}

export async function clone(hands: Hands, { dir, url, branch, newBranch }: Clone, bounds: Bounds): Promise<void> {
  const args = [dir, `${dir}.clone`, url, branch ?? '', newBranch]
  const said = await longCommand(hands, {
    argv: ['/bin/sh', '-c', cloneScript, 'clone', ...args],
    cwd: '/',
    env: { GIT_TERMINAL_PROMPT: '0', LC_ALL: 'C' },
    ...bounds,
  })
  if (said.code === 0) return
  if (said.code === null) throw new StartFailed(`the clone took too long:\n${lastLines(said.tail)}`)
  const kind = refusedAccess.test(said.tail) && !/remote branch/i.test(said.tail) ? 'authentication error: ' : ''
  throw new StartFailed(`${kind}the repository could not be cloned:\n${lastLines(said.tail)}`)
}

/** `$1` the place. In a sandbox that is new each further process costs more than all of this. */
const folderScript = `
[ -d "$1" ] || mkdir -p -- "$1"
cd -- "$1" || exit 1
none() { for f in "$1"/* "$1"/.[!.]* "$1"/..?*; do if [ -e "$f" ] || [ -L "$f" ]; then return 1; fi; done; }
if none . && none ~; then echo empty; fi`

/** Makes the folder. Answers whether nothing is in it, nor in the user's home: then there is nothing to look for either. */
export async function makeFolder(hands: Hands, dir: string): Promise<boolean> {
  const { code, stdout, stderr } = await hands.run({ script: folderScript, args: [dir] })
  if (code !== 0) throw new StartFailed(`the workspace could not be made: ${lastLines(stderr)}`)
  return stdout.toString('utf8').trim() === 'empty'
}

/** A workspace with a history, so that changes can be told from what was there. */
export async function makeHistory(hands: Hands, dir: string): Promise<void> {
  const script = 'cd -- "$1" || exit 1; [ -e .git ] || git init -q -b main --template='
  const { code, stderr } = await hands.run({ script, args: [dir] })
  if (code !== 0) throw new StartFailed(`the workspace could not be made: ${lastLines(stderr)}`)
}

/** The commit the work begins from; null in a repository without commits. */
export async function baseCommit(hands: Hands, dir: string): Promise<string | null> {
  const { code, stdout } = await hands.run({ script: 'git -C "$1" rev-parse -q --verify HEAD', args: [dir] })
  return code === 0 ? stdout.toString('utf8').trim() : null
}

/** Folders that hold what a repository tells us, the first that has the file wins. */
const folders = ['.parley', '.openhands']

const findScript =
  'cd -- "$1" || exit 1; shift; for f in "$@"; do if [ -f "$f" ]; then printf %s "$f"; exit 0; fi; done'

async function find(hands: Hands, dir: string, names: readonly string[]): Promise<string | null> {
  const { stdout } = await hands.run({ script: findScript, args: [dir, ...names] })
  return stdout.toString('utf8') || null
}

/** Undefined when the repository has none. It may run twice after a crash, unless it has ended well. */
export async function runSetupScript(hands: Hands, dir: string, id: string, bounds: Bounds) {
  const script = await find(
    hands,
    dir,
    folders.map((folder) => `${folder}/setup.sh`),
  )
  if (script === null) return undefined
  const done = `"$HOME/.parley/setup-${id}"`
  const marked = await hands.run({ script: `[ -e ${done} ]` })
  if (marked.code === 0) return undefined
  const shell = '$(command -v bash || command -v sh)'
  const said = await longCommand(hands, {
    argv: ['/bin/sh', '-c', `"${shell}" "$1" && mkdir -p "$HOME/.parley" && : > ${done}`, 'setup', script],
    cwd: dir,
    ...bounds,
  })
  return { script, ...said }
}

/** `.parley/pre-commit.sh` becomes the pre-commit hook; a hook of somebody else's is kept beside it and runs first. */
const hookScript = `
cd -- "$1" || exit 1
[ -d .git ] || exit 0
hooks=$(git rev-parse --git-path hooks) && mkdir -p "$hooks"
hook="$hooks/pre-commit"
if [ -e "$hook" ] && ! grep -q 'installed by Parley' "$hook"; then mv "$hook" "$hooks/pre-commit.local"; fi
cat > "$hook.new" <<END
#!/bin/sh
# installed by Parley from $2
local="\\$(dirname "\\$0")/pre-commit.local"
if [ -x "\\$local" ]; then "\\$local" "\\$@" || exit \\$?; fi
exec sh "$2" "\\$@"
END
chmod +x "$hook.new" && mv "$hook.new" "$hook"`

export async function installGitHooks(hands: Hands, dir: string): Promise<void> {
  const script = await find(
    hands,
    dir,
    folders.map((folder) => `${folder}/pre-commit.sh`),
  )
  if (script === null) return
  const { code, stderr } = await hands.run({ script: hookScript, args: [dir, script] })
  if (code !== 0) throw new StartFailed(`the pre-commit hook could not be installed: ${lastLines(stderr)}`)
}
