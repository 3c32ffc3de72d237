import { posix } from 'node:path'
import { z } from 'zod'
import { failed, observed } from './observation.ts'
import type { Tool, ToolContext } from './tool.ts'
import { filesBelow } from './tree.ts'

const kind = 'GlobObservation'
const mostFiles = 100
/** Beyond it the newest are not looked for. */
const mostDated = 2_000
const timeoutMs = 30_000

const input = z.object({
  pattern: z.string().min(1).max(1000).describe('Such as src/**/*.ts. Without a slash: in any folder.'),
  path: z.string().optional().describe('Folder to look in.'),
})

export const glob: Tool<typeof input> = {
  name: 'glob',
  aliases: ['GlobTool'],
  description: 'Finds files by name, the last changed first. Ignored files are left out.',
  input,
  actionKind: 'GlobAction',
  observationKind: kind,
  readOnly: true,
  resources: () => [],
  async run({ pattern, path = '.' }, context) {
    const root = posix.resolve(context.workingDir, path)
    const facts = { pattern, search_path: root }
    const all = await filesBelow(root, context)
    if (typeof all === 'string') return failed(kind, all, { ...facts, files: [], truncated: false })
    const wanted = pattern.includes('/') ? pattern.replace(/^\.?\//, '') : `**/${pattern}`
    const found = all.filter((file) => posix.matchesGlob(file, wanted))
    const files = (await newestFirst(root, found, context)).slice(0, mostFiles)
    const rest = found.length > files.length ? `\n[${found.length - files.length} more]` : ''
    const text = files.length === 0 ? `No file below ${root} matches.` : `${files.join('\n')}${rest}`
    return observed(kind, text, { ...facts, files, truncated: rest !== '' })
  },
}

async function newestFirst(root: string, files: string[], { hands, signal }: ToolContext): Promise<string[]> {
  if (files.length < 2 || files.length > mostDated) return files.toSorted()
  const script = 'cd -- "$1" || exit 1; shift; stat -c "%Y %n" -- "$@" 2>/dev/null; true'
  const { stdout } = await hands.run({ script, args: [root, ...files], timeoutMs, signal })
  const dates = new Map<string, number>()
  for (const line of stdout.toString('utf8').split('\n')) {
    const at = line.indexOf(' ')
    dates.set(line.slice(at + 1), Number(line.slice(0, at)))
  }
  const date = (file: string): number => dates.get(file) ?? 0
  return files.toSorted((a, b) => date(b) - date(a) || (a < b ? -1 : 1))
}
