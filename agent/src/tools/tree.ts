import type { ToolContext } from './tool.ts'

const timeoutMs = 30_000
const mostBytes = 8 * 1024 * 1024

/** In a repository what git does not ignore, elsewhere everything but what is never meant; `$1` the folder. */
const listScript = `
cd -- "$1" 2>/dev/null || exit 3
git ls-files -z -co --exclude-standard 2>/dev/null ||
find . \\( -name .git -o -name node_modules -o -name .venv -o -name __pycache__ \\) -prune -o -type f -exec printf '%s\\0' {} +`

/** Paths of files below a folder, relative to it; a sentence when there is no such folder. */
export async function filesBelow(
  root: string,
  { hands, signal }: Pick<ToolContext, 'hands' | 'signal'>,
): Promise<string[] | string> {
  const { code, stdout, timedOut } = await hands.run({
    script: listScript,
    args: [root],
    timeoutMs,
    maxBytes: mostBytes,
    signal,
  })
  if (timedOut) return `${root} has too many files; look in a folder of it.`
  if (code === 3) return `There is no folder ${root}.`
  const paths = stdout.toString('utf8').split('\0').slice(0, -1)
  return [...new Set(paths.map((path) => path.replace(/^\.\//, '')))]
}
