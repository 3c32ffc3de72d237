import { lstat, mkdir, readlink, stat, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { etcFiles } from '../etc.ts'
import { makeTenantFolders, type Meta, writeMeta } from '../folder.ts'

/** Parts of the host's /etc that programs need and that say nothing about this machine. */
const shareable = [
  'alternatives',
  'ssl',
  'pki',
  'ca-certificates',
  'ca-certificates.conf',
  'ld.so.cache',
  'ld.so.conf',
  'ld.so.conf.d',
  'localtime',
  'fonts',
  'mime.types',
  'magic',
  'protocols',
  'services',
  'python3',
  'perl',
  'terminfo',
  'inputrc',
]

/** Makes what is missing of a sandbox's folder; files that are there stay. */
export async function makeFolders(folder: string, meta: Meta, shared: readonly string[]): Promise<void> {
  const etc = join(folder, 'etc')
  await mkdir(etc, { recursive: true, mode: 0o755 })
  await Promise.all([
    makeTenantFolders(folder, meta.uid),
    ...shared.map((path) => makeTarget(path, join(etc, basename(path)))),
    mkdir(join(folder, 'run'), { recursive: true }),
    describe(folder, meta),
  ])
}

/** Writes what is different from one tenant to the other, into a folder that is there. */
export async function describe(folder: string, meta: Meta): Promise<void> {
  const files = Object.entries(etcFiles(meta.spec))
  await Promise.all([
    ...files.map(([name, text]) => writeFile(join(folder, 'etc', name), text, { mode: 0o644 })),
    writeMeta(folder, meta),
  ])
}

/** An empty thing of the same kind, for the host's one to be mounted on. */
async function makeTarget(path: string, target: string): Promise<void> {
  if ((await stat(path)).isDirectory()) await mkdir(target, { recursive: true })
  else await writeFile(target, '', { flag: 'a', mode: 0o644 })
}

export async function hostEtc(): Promise<string[]> {
  const paths = shareable.map((name) => join('/etc', name))
  const there = await Promise.all(
    paths.map((path) =>
      stat(path).then(
        () => true,
        () => false,
      ),
    ),
  )
  return paths.filter((_, index) => there[index])
}

/** How /bin, /lib and their like are made on this host. */
export async function hostRoot(): Promise<{ links: { path: string; to: string }[]; real: string[] }> {
  const links: { path: string; to: string }[] = []
  const real: string[] = []
  for (const path of ['/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32']) {
    const seen = await lstat(path).catch(() => undefined)
    if (seen?.isSymbolicLink()) links.push({ path, to: await readlink(path) })
    else if (seen?.isDirectory()) real.push(path)
  }
  return { links, real }
}
