import { posix } from 'node:path'
import { z } from 'zod'
import { cutMiddle, failed, observed } from './observation.ts'
import type { Tool } from './tool.ts'

const kind = 'GrepObservation'
const mostLines = 200
const mostFiles = 100
const lineLimit = 300
const textLimit = 30_000
const timeoutMs = 30_000
const mostBytes = 2 * 1024 * 1024

const input = z.object({
  pattern: z.string().min(1).max(2000).describe('Regular expression.'),
  path: z.string().optional().describe('File or folder to look in.'),
  include: z.string().max(1000).optional().describe('Only files of this name, such as *.ts.'),
})

/** `$1` where, `$2` the pattern, `$3` names of files or nothing. Exit 1: nothing found; 2 and more: it could not look. */
const script = `
if [ -d "$1" ]; then cd -- "$1" && set -- . "$2" "$3" || exit 3; elif [ ! -e "$1" ]; then exit 3; fi
if command -v rg >/dev/null 2>&1; then
  if [ -n "$3" ]; then rg -nH --no-heading --color never --hidden -g '!.git' -g '!node_modules' -g "$3" -e "$2" -- "$1"
  else rg -nH --no-heading --color never --hidden -g '!.git' -g '!node_modules' -e "$2" -- "$1"; fi
  exit
fi
printf x | grep -E -e "$2" >/dev/null 2>&1
[ $? -lt 2 ] || { printf x | grep -E -e "$2"; exit 2; }
find "$1" \\( -name .git -o -name node_modules -o -name .venv -o -name __pycache__ \\) -prune -o -type f \${3:+-name "$3"} -exec grep -nHE -e "$2" -- {} +
true`

export const grep: Tool<typeof input> = {
  name: 'grep',
  aliases: ['GrepTool', 'search_files'],
  description: 'Finds lines of files by a regular expression: file:line:text.',
  input,
  actionKind: 'GrepAction',
  observationKind: kind,
  readOnly: true,
  resources: () => [],
  async run({ pattern, path = '.', include = '' }, { hands, workingDir, signal }) {
    const root = posix.resolve(workingDir, path)
    const facts = {
      pattern,
      search_path: root,
      include: include === '' ? null : include,
      matches: [],
      truncated: false,
    }
    const result = await hands.run({ script, args: [root, pattern, include], timeoutMs, maxBytes: mostBytes, signal })
    if (result.timedOut) return failed(kind, 'It took longer than 30 s; look in a smaller folder.', facts)
    if (result.code === 3) return failed(kind, `There is no ${root}.`, facts)
    const found = result.stdout
      .toString('utf8')
      .split('\n')
      .filter((line) => line !== '' && !/^Binary file .* matches$/.test(line))
    if (found.length === 0 && result.code > 1) return failed(kind, result.stderr.trim().slice(0, 2_000), facts)
    const lines = found.map((line) => line.replace(/^\.\//, '').slice(0, lineLimit))
    const files = [...new Set(lines.map((line) => line.slice(0, line.indexOf(':'))))]
    const shown = cutMiddle(lines.slice(0, mostLines).join('\n'), textLimit)
    const more = result.truncated || lines.length > mostLines
    const rest = more
      ? `\n[only the first ${Math.min(mostLines, lines.length)} of ${result.truncated ? 'very many' : lines.length} lines in ${files.length} files]`
      : ''
    const text = lines.length === 0 ? 'Nothing found.' : `${shown}${rest}`
    return observed(kind, text, { ...facts, matches: files.slice(0, mostFiles), truncated: more })
  },
}
