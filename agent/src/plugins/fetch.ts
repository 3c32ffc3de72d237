import { createHash } from 'node:crypto'
import { posix } from 'node:path'
import type { PluginInput } from '@parley/contract/plugins'
import type { Hands } from '@parley/sandbox/driver'
import { PluginFailed, type PluginPlace } from './source.ts'

/** A plugin's folder in the sandbox and the commit it is at; null for a folder of the workspace. */
export interface Fetched {
  root: string
  commit: string | null
}

const timeoutMs = 60_000

/**
 * `$1` the address, `$2` the ref or nothing, `$3` the folder's name. Beside its place first, then moved there, so that a
 * second run finds a whole one. A server that gives no single commit is asked for everything.
 */
const fetchScript = `
set -e
base="$HOME/.parley/plugins"
place="$base/$3"
if [ ! -f "$place/.git/HEAD" ]; then
  new="$place.new"
  rm -rf -- "$new"
  mkdir -p -- "$new"
  git init -q --template= -- "$new"
  ref=\${2:-HEAD}
  if ! git -C "$new" fetch -q --depth 1 -- "$1" "$ref" 2>"$new.log"; then
    [ -n "$2" ] || { cat "$new.log" >&2; exit 1; }
    git -C "$new" fetch -q -- "$1" '+refs/heads/*:refs/remotes/origin/*' '+refs/tags/*:refs/tags/*' || exit 1
    commit=$(git -C "$new" rev-parse -q --verify "$2^{commit}") ||
      { echo "there is no branch, tag or commit $2" >&2; exit 1; }
    git -C "$new" update-ref FETCH_HEAD "$commit"
  fi
  git -C "$new" -c advice.detachedHead=false checkout -q --detach FETCH_HEAD
  rm -rf -- "$place" "$new.log"
  mv -- "$new" "$place"
fi
printf '%s\\n' "$place"
git -C "$place" rev-parse HEAD`

/** Makes sure that the plugin is in the sandbox. Rejects with `PluginFailed`. */
export async function fetchPlugin(
  hands: Hands,
  plugin: Pick<PluginInput, 'source' | 'ref' | 'repo_path'>,
  place: PluginPlace,
  dir: string,
  signal: AbortSignal,
): Promise<Fetched> {
  const fetched =
    place.kind === 'folder'
      ? { root: posix.resolve(dir, place.path), commit: null }
      : await clone(hands, plugin, place.url, signal)
  const root = plugin.repo_path === null ? fetched.root : posix.join(fetched.root, plugin.repo_path)
  const { code } = await hands.run({
    // A link may lead out of what was fetched, and so out of what the user asked for.
    script:
      'top=$(cd -- "$1" && pwd -P) && root=$(cd -- "$2" && pwd -P) && case $root/ in "$top"/*) ;; *) exit 1 ;; esac',
    args: [place.kind === 'folder' ? dir : fetched.root, root],
    signal,
  })
  if (code !== 0) throw new PluginFailed(`the plugin ${plugin.source} has no folder ${plugin.repo_path ?? place.kind}`)
  return { root, commit: fetched.commit }
}

async function clone(
  hands: Hands,
  { source, ref }: Pick<PluginInput, 'source' | 'ref'>,
  url: string,
  signal: AbortSignal,
) {
  const name = createHash('sha256')
    .update(`${url} ${ref ?? ''}`)
    .digest('hex')
    .slice(0, 16)
  const { code, stdout, stderr, timedOut } = await hands.run({
    script: fetchScript,
    args: [url, ref ?? '', name],
    env: { GIT_TERMINAL_PROMPT: '0', LC_ALL: 'C' },
    timeoutMs,
    signal,
  })
  if (timedOut) throw new PluginFailed(`the plugin ${source} could not be fetched within ${timeoutMs / 1000} s`)
  if (code !== 0) throw new PluginFailed(`the plugin ${source} could not be fetched:\n${lastLines(stderr)}`)
  const [root = '', commit = ''] = stdout.toString('utf8').trim().split('\n').slice(-2)
  return { root, commit }
}

const lastLines = (text: string): string => text.trim().split('\n').slice(-10).join('\n')
