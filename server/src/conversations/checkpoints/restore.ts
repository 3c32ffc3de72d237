import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { Problem } from '@parley/contract/problems'
import type { Hands } from '@parley/sandbox/driver'
import { algorithmOf, packOf } from './objects.ts'
import type { Snapshot } from './read.ts'
import { environment } from './scripts.ts'
import type { CheckpointStore, StoredObject } from './store.ts'

/*
 * A checkpoint as a working directory again: an empty repository is given all objects, then the files, branches, index and
 * configuration. What commits had before is not there; the repository is a shallow one that can be deepened.
 */

const pageBytes = 4 * 2 ** 20
const restoreMs = 120_000

/** `$1` the working directory, `$2` the format of its objects. Takes a pack from its input. */
const fillScript = `
mkdir -p -- "$1" && cd -- "$1" || exit 1
rm -rf -- .git
git init -q --template= --object-format="$2" -- . && git index-pack --stdin >/dev/null`

/** `$2` the checkpoint. The configuration comes last: what it makes git do is not for us. */
const placeScript = `
cd -- "$1" || exit 1
has() { git cat-file -e "$root:$1" 2>/dev/null; }
root=$2
mkdir -p .git/info
printf '* -text -eol -filter -ident -working-tree-encoding\\n' > .git/info/attributes
for part in ignored work; do
  if has "$part"; then git read-tree "$root:$part" && git checkout-index -q -a -f || exit 1; fi
done
if has staged; then git read-tree "$root:staged" || exit 1; else rm -f .git/index; fi
rm -f .git/info/attributes
if has refs; then
  git cat-file blob "$root:refs" > .git/parley-refs || exit 1
  sed -n 's/^shallow //p' .git/parley-refs > .git/shallow
  [ -s .git/shallow ] || rm -f .git/shallow
  sed -n 's/^ref \\([^ ]*\\) \\(.*\\)/create \\2 \\1/p' .git/parley-refs | git update-ref --stdin || exit 1
  sed -n 's/^HEAD //p' .git/parley-refs > .git/HEAD
  rm -f .git/parley-refs
  if has config; then git cat-file blob "$root:config" > .git/config.new && mv .git/config.new .git/config; fi
  git -c core.fsmonitor=false update-index -q --refresh
  exit 0
fi
rm -rf .git`

interface Place {
  hands: Hands
  dir: string
  signal: AbortSignal
}

/** Into an empty or absent directory. Rejects with `sandbox_error` when it cannot be done. */
export const restorer =
  (store: CheckpointStore) =>
  async (saved: Snapshot, place: Place): Promise<void> => {
    const { hands, dir, signal } = place
    const { root } = saved.checkpoint
    const algorithm = algorithmOf(root)
    const count = await store.count(saved.id)
    const limit = AbortSignal.any([signal, AbortSignal.timeout(restoreMs)])
    const filling = hands.spawn({
      argv: ['/bin/sh', '-c', fillScript, 'fill', dir, algorithm],
      cwd: '/',
      env: environment,
      signal: limit,
    })
    let said = ''
    filling.stderr.setEncoding('utf8').on('data', (text: string) => (said = (said + text).slice(-2_000)))
    filling.stdout.resume()
    const pack = packOf(count, pages(store, saved.id), algorithm)
    await pipeline(Readable.from(pack, { objectMode: false }), filling.stdin).catch(
      async (error: NodeJS.ErrnoException) => {
        await filling.kill(0)
        // The reader ended first, and says why.
        if (error.code !== 'EPIPE') throw error
      },
    )
    const { code } = await filling.ended
    if (code !== 0) throw new Problem('sandbox_error', `The checkpoint could not be restored: ${said.trim()}`)
    const placed = await hands.run({
      script: placeScript,
      args: [dir, root],
      env: environment,
      timeoutMs: restoreMs,
      signal,
    })
    if (placed.code !== 0)
      throw new Problem(
        'sandbox_error',
        `The checkpoint could not be restored: ${placed.stderr.trim().slice(0, 1_000)}`,
      )
  }

async function* pages(store: CheckpointStore, id: string): AsyncGenerator<readonly StoredObject[]> {
  for (let after = ''; ;) {
    const page = await store.page(id, after, pageBytes)
    const last = page.at(-1)
    if (last === undefined) return
    yield page
    after = last.oid
  }
}
