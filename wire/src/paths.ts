import type { Served } from './serve.ts'

/** `{name}` of a contract's path as the router writes it. */
export const fastifyPath = (path: string) => path.replaceAll(/\{(\w+)\}/g, ':$1')

const pattern = (path: string) =>
  new RegExp(`^${path.replaceAll(/[.*+?^$()|[\]\\]/g, '\\$&').replaceAll(/\{\w+\}/g, '[^/]+')}$`)

/** Methods that the address takes, for the header `Allow`; empty when there is no such address. */
export function allowedMethods(served: readonly Served[], url: string): string[] {
  const path = url.replace(/\?.*$/s, '')
  const methods = new Set<string>()
  for (const { endpoint } of served) {
    if (!pattern(endpoint.path).test(path)) continue
    methods.add(endpoint.method)
    if (
      endpoint.method === 'GET' &&
      (endpoint.answer === 'json' || endpoint.answer === 'bytes' || endpoint.answer === 'html')
    ) {
      methods.add('HEAD')
    }
  }
  return [...methods].sort()
}
