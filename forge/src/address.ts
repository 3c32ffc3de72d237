import { ownerAndName } from './forge.ts'

/** Where a kind of forge keeps its repositories below its base URL. */
export interface Places {
  /** For `git clone`. */
  clone: (owner: string, name: string) => string
  /** Paths of a repository, of git's and of the pages, with the groups `owner` and `name`; `user` owns as `~user`. */
  paths: RegExp[]
}

/** `/owner/name`, with `.git` for git. */
export const usualPlaces: Places = {
  clone: (owner, name) => `/${owner}/${name}.git`,
  paths: [/^\/(?<owner>[\w.-]+)\/(?<name>[\w.-]+?)(?:\.git)?(?:\/|$)/],
}

/** Address for `git clone` at `host`, without any credential. The name must have the form `owner/name`. */
export function cloneUrl(host: string, { clone }: Places, fullName: string): string {
  const [owner = '', name = ''] = fullName.split('/')
  return `${host}${clone(owner, name)}`
}

/** `owner/name` of the repository that a path below the base URL is about; undefined when it is about none. */
function repositoryInPath({ paths }: Places, path: string): string | undefined {
  for (const one of paths) {
    const { user, owner = `~${user}`, name } = one.exec(path)?.groups ?? {}
    if (name !== undefined && ownerAndName(`${owner}/${name}`) !== undefined) return `${owner}/${name}`
  }
  return undefined
}

/** The same for a path of git: the one to clone from, with or without `.git`, and nothing below it. */
export function repositoryOfGit(places: Places, path: string): string | undefined {
  const fullName = repositoryInPath(places, path)
  const bare = (text: string) => text.replace(/\.git$/, '')
  return fullName !== undefined && bare(cloneUrl('', places, fullName)) === bare(path) ? fullName : undefined
}

/**
 * `owner/name` when `text` is the web or clone address of a repository at `host` (a forge's base URL); undefined
 * otherwise. A page below the repository, such as one of its branches, counts as the repository.
 */
export function repositoryInAddress(host: string, text: string, places: Places = usualPlaces): string | undefined {
  const base = new URL(host)
  const found = URL.parse(text.trim())
  if (found === null || !/^https?:$/.test(found.protocol) || found.host !== base.host) return undefined
  const prefix = base.pathname.replace(/\/$/, '')
  if (!found.pathname.startsWith(`${prefix}/`)) return undefined
  return repositoryInPath(places, found.pathname.slice(prefix.length))
}
