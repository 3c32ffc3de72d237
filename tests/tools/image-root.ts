/* Images for tests, made of programs of this machine, because tests ask no registry. */
import { execFile } from 'node:child_process'
import { access, copyFile, mkdir, realpath, symlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

const programs =
  'sh bash git rg awk base64 basename cat chmod cp cut date dd diff dirname du env expr false find grep head hostname id kill ln ls mkdir mkfifo mktemp mount mv printf ps pwd readlink rm rmdir sed seq setsid sleep sort stat stty tail tee test timeout touch tr true uname uniq unshare wc whoami xargs yes'

/** A BusyBox without libraries; undefined where this machine has none. */
export async function busybox(): Promise<string | undefined> {
  const path = await which('busybox')
  if (path === undefined) return undefined
  const { stdout } = await run('ldd', [path]).catch(() => ({ stdout: '' }))
  return stdout.includes('=>') ? undefined : path
}

/** Programs of this machine with their libraries, and homes as images have them. */
export const hostRoot =
  (more: readonly string[] = []) =>
  async (root: string): Promise<void> => {
    await mkdir(join(root, 'root', 'of-the-image'), { recursive: true })
    await mkdir(join(root, 'home', 'of-the-image'))
    const names = [...programs.split(' '), ...more]
    const found = await Promise.all(names.map(async (name) => [name, await which(name)] as const))
    const libraries = new Set<string>()
    for (const [name, path] of found) {
      if (path === undefined) continue
      const { stdout } = await run('ldd', [path]).catch(() => ({ stdout: '' }))
      for (const library of stdout.match(/\/\S+/g) ?? []) libraries.add(library)
      await copyFile(await realpath(path), join(root, 'bin', name))
    }
    for (const library of libraries) {
      await mkdir(join(root, dirname(library)), { recursive: true })
      await copyFile(library, join(root, library))
    }
  }

export async function busyboxRoot(root: string): Promise<void> {
  await copyFile((await busybox()) ?? '', join(root, 'bin', 'busybox'))
  const { stdout } = await run(join(root, 'bin', 'busybox'), ['--list'])
  for (const applet of stdout.trim().split('\n'))
    if (applet !== 'busybox') await symlink('busybox', join(root, 'bin', applet))
}

export async function which(name: string): Promise<string | undefined> {
  for (const folder of [...(process.env['PATH'] ?? '').split(':'), '/usr/sbin', '/sbin']) {
    const path = join(folder, name)
    if (
      await access(path).then(
        () => true,
        () => false,
      )
    )
      return path
  }
  return undefined
}
