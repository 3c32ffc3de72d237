import { randomBytes } from 'node:crypto'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { planFile } from '@parley/agent/tools/planning-file-editor'
import { Problem, type ProblemCode } from '@parley/contract/problems'
import type { WorkspaceFile } from '@parley/contract/workspace'
import { FileError, type FileEntry, type Hands, SandboxGone } from '@parley/sandbox/driver'
import { readFiles } from '@parley/wire/multipart'
import type { Bytes, CallRequest } from '@parley/wire/serve'
import type { Sandboxes } from '../sandboxes/service.ts'
import type { Whole } from './store.ts'

/*
 * Files of a conversation's working directory. Every path is resolved by the sandbox itself, links and all, and what does not
 * end inside the working directory is not there.
 */

export const largestText = 1024 * 1024
const pieceBytes = 4 * 1024 * 1024
const timeoutMs = 20_000

/** $1 `-e`: all of it exists; `-m`: it may be new. Prints the directory and the path, each with a NUL behind it. */
const resolveScript = 'realpath -z -e -- "$2" && realpath -z "$1" -- "$3"'
const placeScript = '[ -d "$2" ] && exit 3; mv -f -- "$1" "$2"'

export type WorkspaceFiles = ReturnType<typeof workspaceFiles>

export function workspaceFiles({ sandboxes }: { sandboxes: Pick<Sandboxes, 'hands'> }) {
  async function open(row: Whole, path: string, mustExist: boolean, signal: AbortSignal): Promise<Place> {
    const hands = await sandboxes.hands(row.owner_id, row.sandbox_id, signal)
    return { hands, ...(await resolve(hands, row.working_dir, path, mustExist)) }
  }

  async function openFile(row: Whole, path: string, signal: AbortSignal): Promise<Place & { entry: FileEntry }> {
    const place = await open(row, path, true, signal)
    const entry = await place.hands.files.stat(place.target)
    if (entry?.type !== 'file') throw new Problem('not_found', 'There is no such file.')
    return { ...place, entry }
  }

  return {
    /** Folders first, then by name. What is neither file, folder nor link is left out. */
    list: (row: Whole, { path, limit }: { path: string; limit: number }, signal: AbortSignal) =>
      explained(async () => {
        const { hands, root, target } = await open(row, path, true, signal)
        const found = (await hands.files.list(target)).flatMap((entry) => shown(entry, root))
        const files = found.sort((a, b) => Number(b.kind === 'folder') - Number(a.kind === 'folder') || order(a, b))
        return { files: files.slice(0, limit), truncated: files.length > limit }
      }),

    /** The text of a file, by default of the plan. */
    read: (row: Whole, path: string | undefined, signal: AbortSignal): Promise<string> =>
      explained(async () => {
        const { hands, target, entry } = await openFile(row, path ?? planFile(row.git_provider), signal)
        if (entry.size > largestText) throw new Problem('payload_too_large', 'The file is too large to read as text.')
        return textOf(await hands.files.read(target, { from: 0, length: largestText }))
      }),

    download: (row: Whole, path: string, signal: AbortSignal): Promise<Bytes> =>
      explained(async () => {
        const { hands, target, entry } = await openFile(row, path, signal)
        const name = target.slice(target.lastIndexOf('/') + 1)
        const body = Readable.from(pieces(hands, target, entry.size), { objectMode: false })
        return { type: 'application/octet-stream', length: entry.size, name, body }
      }),

    /** Each file is there whole or not at all; those that came before one that fails stay. */
    upload: (row: Whole, path: string, request: CallRequest): Promise<{ files: WorkspaceFile[] }> =>
      explained(async () => {
        const { hands, root, target: folder } = await open(row, path, false, request.signal)
        const files: WorkspaceFile[] = []
        await readFiles(request, async ({ field, name, body }) => {
          if (field !== 'file') throw new Problem('validation_error', 'The parts of the form must be named `file`.')
          const { target } = await resolve(hands, root, `${folder}/${fileName(name)}`, false)
          await write(hands, target, body)
          const entry = await hands.files.stat(target)
          if (entry !== null) files.push(...shown(entry, root))
        })
        return { files }
      }),
  }
}

interface Place {
  hands: Hands
  /** The working directory and what is asked for, without links. */
  root: string
  target: string
}

async function resolve(hands: Hands, workingDir: string, path: string, mustExist: boolean) {
  const asked = path.startsWith('/') ? path : `${workingDir}/${path}`
  const args = [mustExist ? '-e' : '-m', workingDir, asked]
  const { code, stdout, timedOut } = await hands.run({ script: resolveScript, args, timeoutMs })
  if (timedOut) throw new Problem('upstream_timeout', 'The sandbox did not answer in time.')
  const [root = '', target = ''] = stdout.toString('utf8').split('\0')
  if (code !== 0 || root === '' || (target !== root && !target.startsWith(`${root}/`)))
    throw new Problem('not_found', 'There is no such file in the workspace.')
  return { root, target }
}

function fileName(said: string): string {
  const name = said.slice(Math.max(said.lastIndexOf('/'), said.lastIndexOf('\\')) + 1)
  if (name === '' || name === '.' || name === '..' || name.includes('\0') || Buffer.byteLength(name) > 255)
    throw new Problem('validation_error', 'Each part of the form needs a file name.')
  return name
}

/** Beside its place first: a body that breaks off leaves the old file as it was. */
async function write(hands: Hands, target: string, body: Readable): Promise<void> {
  const folder = target.slice(0, target.lastIndexOf('/'))
  const temporary = `${folder}/.parley-upload-${randomBytes(8).toString('hex')}`
  // Makes the folder, and fails in the words of a file operation when it cannot.
  await hands.files.write(temporary, new Uint8Array())
  try {
    await pour(hands, temporary, body)
    const placed = await hands.run({ script: placeScript, args: [temporary, target], timeoutMs })
    if (placed.code === 3) throw new FileError('EISDIR', `${target}: is a directory`)
    if (placed.code !== 0) throw new FileError('EACCES', `${target}: permission denied`)
  } catch (error) {
    await hands.files.remove(temporary).catch(() => {})
    throw error
  }
}

async function pour(hands: Hands, target: string, body: Readable): Promise<void> {
  const process = hands.spawn({ argv: ['sh', '-c', 'cat >"$1"', 'sh', target], env: { LC_ALL: 'C' } })
  let said = ''
  process.stderr.setEncoding('utf8').on('data', (text: string) => (said = (said + text).slice(-2_000)))
  process.stdout.resume()
  try {
    await pipeline(body, process.stdin)
  } catch (error) {
    await process.kill(0)
    // A full disk ends the reader first, and the pipe breaks for us.
    if ((error as NodeJS.ErrnoException).code !== 'EPIPE') throw error
  }
  const { code } = await process.ended
  if (code !== 0) throw new FileError(/no space|quota/i.test(said) ? 'ENOSPC' : 'EIO', said.trim())
}

/** A file that changes meanwhile cannot be sent whole: the answer is cut. */
async function* pieces(hands: Hands, path: string, size: number): AsyncGenerator<Buffer> {
  for (let from = 0; from < size; from += pieceBytes) {
    const length = Math.min(pieceBytes, size - from)
    const piece = await hands.files.read(path, { from, length })
    if (piece.length !== length) throw new Error(`${path} became shorter while it was read`)
    yield piece
  }
}

export function textOf(bytes: Buffer): string {
  const refused = new Problem('unsupported_media_type', 'The file is not text in UTF-8; download it instead.')
  if (bytes.includes(0)) throw refused
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    throw refused
  }
}

const kinds: Partial<Record<FileEntry['type'], WorkspaceFile['kind']>> = {
  file: 'file',
  directory: 'folder',
  symlink: 'link',
}

function shown(entry: FileEntry, root: string): WorkspaceFile[] {
  const kind = kinds[entry.type]
  if (kind === undefined) return []
  const path = entry.path.startsWith(`${root}/`) ? entry.path.slice(root.length + 1) : entry.path
  return [{ path, kind, size: entry.size, modified_at: new Date(entry.modified).toISOString() }]
}

const order = (a: WorkspaceFile, b: WorkspaceFile): number => (a.path < b.path ? -1 : 1)

const codes: Record<string, ProblemCode> = {
  ENOSPC: 'storage_full',
  ETIMEDOUT: 'upstream_timeout',
  EFBIG: 'payload_too_large',
  EACCES: 'state_conflict',
  EIO: 'sandbox_error',
}

/** The sandbox's refusals in the words of the contract. */
async function explained<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof SandboxGone)
      throw new Problem('sandbox_error', 'The sandbox ended while it was asked.', {}, { cause: error })
    if (!(error instanceof FileError)) throw error
    const code = codes[error.code] ?? 'not_found'
    const reason = error.message.slice(error.message.indexOf(': ') + 2)
    throw new Problem(
      code,
      code === 'storage_full' ? 'The disk of the sandbox is full.' : `The file: ${reason}.`,
      {},
      { cause: error },
    )
  }
}
