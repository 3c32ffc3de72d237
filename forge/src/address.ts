import { ownerAndName } from './forge.ts'

/**
 * `owner/name` when `text` is the web or clone address of a repository at `host` (a forge's base URL); undefined
 * otherwise. A page below the repository, such as one of its branches, counts as the repository.
 */
export function repositoryInAddress(host: string, text: string): string | undefined {
  const base = new URL(host)
  const found = URL.parse(text.trim())
  if (found === null || !/^https?:$/.test(found.protocol) || found.host !== base.host) return undefined
  const prefix = base.pathname.replace(/\/$/, '')
  if (!found.pathname.startsWith(`${prefix}/`)) return undefined
  const [owner, name] = found.pathname.slice(prefix.length + 1).split('/')
  const fullName = `${owner ?? ''}/${(name ?? '').replace(/\.git$/, '')}`
  return ownerAndName(fullName) === undefined ? undefined : fullName
}
