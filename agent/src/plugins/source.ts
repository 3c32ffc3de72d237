import { gitProvider, type GitProvider } from '@parley/contract/git-provider'
import type { PluginInput } from '@parley/contract/plugins'

/** Where a plugin is: a repository to clone, or a folder that is already in the sandbox. */
export type PluginPlace = { kind: 'git'; url: string } | { kind: 'folder'; path: string }

/** A plugin that cannot be had; the message is for the user and says which one. */
export class PluginFailed extends Error {
  override name = 'PluginFailed'
}

/** The address to clone a repository of a forge from. Rejects when there is no such forge for this user. */
export type ForgeAddress = (provider: GitProvider, repository: string) => Promise<string>

/** `github:owner/repo`, a Git address, or a path in the workspace. Credentials in an address are left out: the way out puts them in. */
export async function placeOf({ source }: Pick<PluginInput, 'source'>, forge: ForgeAddress): Promise<PluginPlace> {
  const [, word, repository] = /^([a-z_]+):(?!\/)(.+)$/.exec(source) ?? []
  if (word !== undefined && repository !== undefined) {
    const provider = gitProvider(word)
    if (provider === undefined) throw new PluginFailed(`the plugin ${source} names no kind of Git host`)
    return { kind: 'git', url: await forge(provider, repository) }
  }
  if (!source.includes('://')) return { kind: 'folder', path: source }
  const url = new URL(source)
  url.username = ''
  url.password = ''
  return { kind: 'git', url: url.href }
}
