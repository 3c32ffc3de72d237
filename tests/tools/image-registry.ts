import { createHash } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'

/*
 * A registry on loopback with one image, which any engine pulls without being told that it is no secure one. It hands its
 * layer out slowly, so that the pull can be watched.
 */

export interface ImageRegistry extends AsyncDisposable {
  /** Reference of its image. */
  image: string
}

const pieces = 5
const pieceMs = 500

/** @param layer The files of the image, as a tar. */
export async function openImageRegistry(layer: Buffer): Promise<ImageRegistry> {
  const zipped = gzipSync(layer, { level: 1 })
  const config = Buffer.from(
    JSON.stringify({
      architecture: process.arch === 'x64' ? 'amd64' : process.arch,
      os: 'linux',
      config: {},
      rootfs: { type: 'layers', diff_ids: [digest(layer)] },
    }),
  )
  const type = 'application/vnd.docker.distribution.manifest.v2+json'
  const manifest = Buffer.from(
    JSON.stringify({
      schemaVersion: 2,
      mediaType: type,
      config: described('application/vnd.docker.container.image.v1+json', config),
      layers: [described('application/vnd.docker.image.rootfs.diff.tar.gzip', zipped)],
    }),
  )
  const known = new Map<string, Buffer>([
    ['/v2/', Buffer.from('{}')],
    ['/v2/slow/manifests/1', manifest],
    [`/v2/slow/manifests/${digest(manifest)}`, manifest],
    [`/v2/slow/blobs/${digest(config)}`, config],
    [`/v2/slow/blobs/${digest(zipped)}`, zipped],
  ])
  const server = createServer(async ({ url = '', method }, response) => {
    const body = known.get(url)
    if (body === undefined) return void response.writeHead(404, { 'Content-Type': 'application/json' }).end('{}')
    const head = { 'Content-Type': url.includes('/manifests/') ? type : 'application/octet-stream' }
    response.writeHead(200, { ...head, 'Content-Length': body.length, 'Docker-Content-Digest': digest(body) })
    if (method === 'HEAD') return void response.end()
    if (body !== zipped) return void response.end(body)
    const size = Math.ceil(body.length / pieces)
    for (let at = 0; at < body.length; at += size) {
      response.write(body.subarray(at, at + size))
      await sleep(pieceMs)
    }
    response.end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    image: `127.0.0.1:${port}/slow:1`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

const digest = (bytes: Buffer): string => `sha256:${createHash('sha256').update(bytes).digest('hex')}`
const described = (mediaType: string, bytes: Buffer) => ({ mediaType, size: bytes.length, digest: digest(bytes) })
