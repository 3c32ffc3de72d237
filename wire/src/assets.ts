import { existsSync } from 'node:fs'
import { join } from 'node:path'
import staticFiles from '@fastify/static'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { pageSecurity } from './security.ts'

/** The browser page: files of `dir` under `prefix` (`/` by default). */
export interface Assets {
  dir: string
  prefix?: string
  /** Paths below these are never the page's: an address that is wrong there answers 404. */
  notPages?: string[]
  /** Sources of what the page may show in frames, as a policy of content says them. None unless said. */
  frames?: string
}

/**
 * Serves the files, and `index.html` for its root and every other address that a browser opens as a page. Files whose name
 * has a hash (`assets/…`) are kept by browsers for ever; all others are asked for anew. A file with `.br` or `.gz` beside it goes
 * out compressed to those who take that.
 */
export async function serveAssets(
  app: FastifyInstance,
  { dir, prefix = '/', notPages = ['/api/'], frames }: Assets,
  notFound: (request: FastifyRequest) => never,
): Promise<void> {
  const files = { root: dir, serve: false, index: false, dotfiles: 'ignore', cacheControl: false } as const
  await app.register(staticFiles, { ...files, preCompressed: true })
  const root = prefix.endsWith('/') ? prefix : `${prefix}/`

  function send(request: FastifyRequest, reply: FastifyReply): FastifyReply {
    const path = request.url.replace(/\?.*$/s, '')
    if (notPages.some((start) => path.startsWith(start))) return notFound(request)
    const asked = (request.params as { '*': string })['*']
    const name = [asked, `${asked}.html`].find((one) => isHere(dir, one)) ?? ''
    const isFile = name !== ''
    const wantsPage = asked === '' || request.headers.accept?.includes('text/html') === true
    const isPage = wantsPage && existsSync(join(dir, 'index.html'))
    if (!isFile && !isPage) return notFound(request)
    const isHashed = isFile && name.startsWith('assets/')
    return reply
      .header('cache-control', isHashed ? 'public, max-age=31536000, immutable' : 'no-cache')
      .header('content-security-policy', pageSecurity(frames))
      .header('x-content-type-options', 'nosniff')
      .header('referrer-policy', 'no-referrer')
      .sendFile(isFile ? name : 'index.html')
  }

  app.get(`${root}*`, { config: { open: true } }, send)
}

const isHere = (dir: string, name: string): boolean =>
  name !== '' &&
  name !== '.html' &&
  !name.endsWith('/') &&
  !name.split('/').includes('..') &&
  existsSync(join(dir, name))
