/*
 * What a container needs and its image may lack: `socat`, which carries the way out and connections to ports. It comes from
 * this machine, with its libraries and its own loader, so it runs in every image, whatever C library that has.
 */
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { access, copyFile, mkdir, mkdtemp, rename, rm, stat, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
/** Folder inside that is ours, read-only. */
export const toolFolder = '/opt/parley'
const program = '/usr/bin/socat'

/** A folder below `stateDir` that is to be seen inside as `toolFolder`. Rejects when this machine has no socat. */
export async function bringTools(stateDir: string): Promise<string> {
  await access(program).catch((cause: unknown) => {
    throw new Error(`${program} is missing; apt-get install -y socat`, { cause })
  })
  const files = [program, ...(await librariesOf(program))]
  const loader = files.find((file) => basename(file).startsWith('ld-'))
  if (loader === undefined) throw new Error(`${program} names no loader`)
  const folder = join(stateDir, `tools-${await fingerprint(files)}`)
  if (await exists(folder)) return folder
  const draft = await mkdtemp(join(stateDir, 'tools-new-'))
  await mkdir(join(draft, 'lib'))
  await mkdir(join(draft, 'bin'))
  for (const file of files) await copyFile(file, join(draft, 'lib', basename(file)))
  const start = `#!/bin/sh\nexec ${toolFolder}/lib/${basename(loader)} --library-path ${toolFolder}/lib ${toolFolder}/lib/socat "$@"\n`
  await writeFile(join(draft, 'bin', 'socat'), start, { mode: 0o755 })
  await run('/bin/chmod', ['-R', 'a+rX,go-w', draft])
  await rename(draft, folder).catch(async (error: unknown) => {
    await rm(draft, { recursive: true })
    if (!(await exists(folder))) throw error // another server was faster
  })
  return folder
}

/** As its loader finds them. */
async function librariesOf(path: string): Promise<string[]> {
  const { stdout } = await run(path, [], { env: { LD_TRACE_LOADED_OBJECTS: '1' } })
  return [...new Set(stdout.match(/\/\S+/g) ?? [])]
}

async function fingerprint(files: readonly string[]): Promise<string> {
  const seen = await Promise.all(files.map(async (file) => [file, (await stat(file)).size, (await stat(file)).mtimeMs]))
  return createHash('sha256').update(JSON.stringify(seen)).digest('hex').slice(0, 16)
}

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  )
