import type { Observation } from '@parley/contract/events'
import type { FileEntry, Files } from '@parley/sandbox/driver'
import { fileMemory, hashOf, remember } from './file-memory.ts'
import { failed, observed } from './observation.ts'
import { readText } from './text-file.ts'
import type { ToolContext } from './tool.ts'

export const fileObservation = 'FileEditorObservation'

const viewLimit = 16_000
const imageLimit = 5 * 1024 * 1024
const listed = 300
const images: Record<string, string> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
  bmp: 'image/bmp',
}

/** A file with line numbers, a directory two levels deep, or an image. `range` is first and last line, -1 for the end. */
export async function view(path: string, range: number[] | undefined, context: ToolContext): Promise<Observation> {
  const { files } = context.hands
  const entry = await files.stat(path)
  if (entry === null)
    return failed(fileObservation, `${path} does not exist.`, { command: 'view', path, prev_exist: false })
  const kind = images[path.split('.').at(-1)?.toLowerCase() ?? '']
  if (kind !== undefined && entry.type === 'file') return image(path, entry, kind, files)
  const directory = entry.type === 'directory' || (entry.type === 'symlink' && (await isDirectory(path, files)))
  if (directory) return observed(fileObservation, await tree(path, files), { command: 'view', path })

  const file = await readText(files, path)
  if (typeof file === 'string') return failed(fileObservation, file, { command: 'view', path })
  const hash = hashOf(file.text)
  remember(fileMemory(context.memory), path, hash)
  return numbered(path, file.text, range, hash)
}

const isDirectory = (path: string, files: Files): Promise<boolean> =>
  files.list(path).then(
    () => true,
    () => false,
  )

function numbered(path: string, text: string, range: number[] | undefined, hash: string): Observation {
  const lines = text.split('\n')
  if (lines.at(-1) === '') lines.pop()
  const [from = 1, asked = -1] = range ?? []
  const to = asked === -1 ? lines.length : Math.min(asked, lines.length)
  const said = { command: 'view', path, hash_after: hash }
  if (lines.length === 0) return observed(fileObservation, 'The file is empty.', said)
  if (from < 1 || from > lines.length || to < from) {
    return failed(fileObservation, `view_range must lie within 1 and ${lines.length}.`, { command: 'view', path })
  }
  const shown = numberedLines(lines, from, to, viewLimit)
  const last = from + shown.length - 1
  const rest = last < to ? `\n[lines ${last + 1} to ${lines.length} not shown; use view_range]` : ''
  const clipped = asked > lines.length ? `\n[the file ends at line ${lines.length}]` : ''
  return observed(fileObservation, `${shown.join('\n')}${rest}${clipped}`, said)
}

/** Lines `from` to `to` (counted from 1) with their numbers, at least one and not much more than `limit` characters. */
export function numberedLines(lines: string[], from: number, to: number, limit = viewLimit): string[] {
  const shown: string[] = []
  let size = 0
  for (let number = from; number <= to && size <= limit; number += 1) {
    const line = `${number}\t${(lines[number - 1] ?? '').slice(0, limit)}`
    size += line.length + 1
    if (size > limit && shown.length > 0) break
    shown.push(line)
  }
  return shown
}

async function image(path: string, entry: FileEntry, kind: string, files: Files): Promise<Observation> {
  if (entry.size > imageLimit) return failed(fileObservation, `${path} is larger than 5 MB.`, { command: 'view', path })
  const url = `data:${kind};base64,${(await files.read(path)).toString('base64')}`
  return {
    ...observed(fileObservation, `The image ${path}:`, { command: 'view', path }),
    content: [{ type: 'image', image_urls: [url], cache_prompt: false }],
  }
}

async function tree(path: string, files: Files): Promise<string> {
  const lines: string[] = []
  let hidden = 0
  const add = async (folder: string, indent: string, deeper: boolean) => {
    const entries = (await files.list(folder)).toSorted((a, b) => (a.name < b.name ? -1 : 1))
    for (const entry of entries) {
      if (lines.length >= listed) return
      if (entry.name.startsWith('.')) hidden += 1
      else {
        const isFolder = entry.type === 'directory'
        lines.push(`${indent}${entry.name}${isFolder ? '/' : ''}`)
        if (isFolder && deeper && entry.name !== 'node_modules') await add(entry.path, `${indent}  `, false)
      }
    }
  }
  await add(path, '', true)
  if (lines.length >= listed) lines.push(`[only the first ${listed} are shown]`)
  if (hidden > 0) lines.push(`[${hidden} hidden, not shown]`)
  return lines.length === 0 ? 'The directory is empty.' : lines.join('\n')
}
