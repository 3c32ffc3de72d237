/* Images of a node's runtime, made of folders. */
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** Asks the runtime of the node. */
export const ctr = (folder: string, ...args: string[]) =>
  run('ctr', ['-a', join(folder, 'containerd.sock'), '-n', 'k8s.io', ...args])

/** An image of one layer, in the form that `docker save` has. */
export async function importImage(
  folder: string,
  name: string,
  fill: (root: string) => Promise<void>,
  command: readonly string[] = [],
): Promise<void> {
  const root = await mkdtemp(join(folder, 'root-'))
  const image = await mkdtemp(join(folder, 'image-'))
  for (const part of ['bin', 'dev', 'etc', 'home', 'proc', 'sys', 'tmp', 'usr', 'var']) await mkdir(join(root, part))
  await fill(root)
  const owned = ['--owner=0', '--group=0', '--numeric-owner']
  await run('tar', ['-C', root, ...owned, '-cf', join(image, 'layer.tar'), '.'])
  const { stdout } = await run('sha256sum', [join(image, 'layer.tar')])
  const config = JSON.stringify({
    architecture: process.arch === 'x64' ? 'amd64' : process.arch,
    os: 'linux',
    config: { Env: ['PATH=/usr/local/bin:/usr/bin:/bin'], Entrypoint: command },
    rootfs: { type: 'layers', diff_ids: [`sha256:${stdout.split(' ')[0]}`] },
  })
  const configName = `${createHash('sha256').update(config).digest('hex')}.json`
  await writeFile(join(image, configName), config)
  const manifest = [{ Config: configName, RepoTags: [name], Layers: ['layer.tar'] }]
  await writeFile(join(image, 'manifest.json'), JSON.stringify(manifest))
  await run('tar', ['-C', image, '-cf', join(folder, 'image.tar'), '.'])
  await ctr(folder, 'images', 'import', join(folder, 'image.tar'))
  for (const path of [root, image, join(folder, 'image.tar')]) await rm(path, { recursive: true })
}
