import { endpoint } from '@parley/contract/endpoint'
import { serve } from '@parley/wire/serve'
import { z } from 'zod'
import { document } from './document.ts'
import { docsPage } from './page.ts'

/** The contract for programs and for people. Not part of the contract itself. */

const getOpenApi = endpoint({
  method: 'GET',
  path: '/openapi.json',
  summary: 'Get the contract',
  access: 'open',
  returns: z.looseObject({ openapi: z.string() }),
  etag: true,
})

const readDocs = endpoint({
  method: 'GET',
  path: '/docs',
  summary: 'Read the contract',
  access: 'open',
  answer: 'html',
})

/** The page's own files only: nothing inline, nothing from elsewhere. */
const security = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "form-action 'none'",
].join('; ')

export function docsRoutes() {
  let made: { openapi: string } | undefined
  let page: string | undefined
  return [
    serve(getOpenApi, () => (made ??= { openapi: '3.1.0', ...document() })),
    serve(readDocs, ({ answer }) => {
      answer.header('content-security-policy', security)
      return (page ??= docsPage())
    }),
  ]
}
