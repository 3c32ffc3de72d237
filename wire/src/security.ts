import type { Answer } from '@parley/contract/endpoint'

const pageSources = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "font-src 'self'",
  "connect-src 'self'",
  "manifest-src 'self'",
  "worker-src 'self'",
]
const closed = ["frame-ancestors 'none'", "base-uri 'none'", "form-action 'self'"]

/** Policy of the browser page: its own files only, and nobody may frame it. `frames`: what it may show in frames. */
export const pageSecurity = (frames = "'none'"): string => [...pageSources, `frame-src ${frames}`, ...closed].join('; ')

const dataSecurity = ["default-src 'none'", ...closed].join('; ')
const htmlSecurity = ["default-src 'none'", "style-src 'unsafe-inline'", "img-src 'self' data:", ...closed].join('; ')

export const contentSecurity = (answer: Answer): string => (answer === 'html' ? htmlSecurity : dataSecurity)

/** Headers of every answer. */
export function baseHeaders(apiVersion: string, baseUrl: string): Record<string, string> {
  const headers: Record<string, string> = {
    'x-api-version': apiVersion,
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cross-origin-resource-policy': 'same-origin',
  }
  if (baseUrl.startsWith('https:')) headers['strict-transport-security'] = 'max-age=31536000'
  return headers
}
