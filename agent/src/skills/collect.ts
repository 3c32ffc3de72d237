import type { Hands } from '@parley/sandbox/driver'

/* Reads many small files out of a sandbox with two short scripts: one that lists, one that reads what was chosen. */

const timeoutMs = 15_000

/** `$1` where to look from; then folders, relative to it or absolute, whose files are wanted; `--`; names of files anywhere. */
const listScript = `
cd -- "$1" 2>/dev/null || exit 0
shift
while [ $# -gt 0 ] && [ "$1" != -- ]; do
  case $1 in "~/"*) place="$HOME/\${1#??}" ;; /*) place=$1 ;; *) place=./$1 ;; esac
  if [ -d "$place" ]; then find "$place/" -maxdepth 5 -name .git -prune -o ! -type d -exec printf '%s\\0' {} +; fi
  shift
done
[ $# -gt 1 ] || exit 0
shift
set -- "$1" "$2" "$3" "$4" "$5"
find . -maxdepth 5 \\( -name .git -o -name node_modules -o -name vendor -o -name target -o -name dist -o -name build \\
  -o -name venv -o -name .venv -o -name __pycache__ \\) -prune -o \\
  ! -type d \\( -name "$1" -o -name "$2" -o -name "$3" -o -name "$4" -o -name "$5" \\) -exec printf '%s\\0' {} +`

/** Path, NUL, text without NULs, NUL, for each file; `$1` where from, `$2` bytes of each. */
const readScript = `
cd -- "$1" 2>/dev/null || exit 0
most=$2
shift 2
for file in "$@"; do
  [ -f "$file" ] && [ -r "$file" ] || continue
  printf '%s\\0' "$file"
  head -c "$most" -- "$file" | tr -d '\\000'
  printf '\\0'
done`

/** Paths of files below the folders (`~/` is the home folder), and of files with one of at most five names anywhere in `dir`. */
export async function listFiles(
  hands: Hands,
  dir: string,
  { folders, names }: { folders: readonly string[]; names: readonly string[] },
  signal?: AbortSignal,
): Promise<string[]> {
  const five = names.length === 0 ? [] : ['--', ...[0, 1, 2, 3, 4].map((at) => names[at] ?? names[0] ?? '')]
  const result = await hands.run({
    script: listScript,
    args: [dir, ...folders, ...five],
    timeoutMs,
    maxBytes: 1024 * 1024,
    ...(signal === undefined ? {} : { signal }),
  })
  const paths = result.stdout.toString('utf8').split('\0').slice(0, -1)
  return [...new Set(paths.map((path) => path.replace(/^\.\//, '').replaceAll('//', '/')))]
}

/** Texts by path, each cut to `most` bytes; what cannot be read is left out. */
export async function readFiles(
  hands: Hands,
  dir: string,
  paths: readonly string[],
  most: number,
  signal?: AbortSignal,
): Promise<Map<string, string>> {
  if (paths.length === 0) return new Map()
  const { stdout } = await hands.run({
    script: readScript,
    args: [dir, String(most), ...paths.map((path) => (path.startsWith('/') ? path : `./${path}`))],
    timeoutMs,
    maxBytes: paths.length * (most + 4096),
    ...(signal === undefined ? {} : { signal }),
  })
  const words = stdout.toString('utf8').split('\0')
  const texts = new Map<string, string>()
  for (let at = 0; at + 1 < words.length; at += 2) {
    const path = words[at]
    const text = words[at + 1]
    if (path !== undefined && text !== undefined) texts.set(path.replace(/^\.\//, ''), text)
  }
  return texts
}
