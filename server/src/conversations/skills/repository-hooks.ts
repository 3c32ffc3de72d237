import { type HookConfig, HookConfigInput } from '@parley/contract/hook-config'
import { FileError, type Hands } from '@parley/sandbox/driver'

/** The first that is there counts. */
const files = ['.parley/hooks.json', '.openhands/hooks.json']
const largest = 256 * 1024

export interface RepositoryHooks {
  hooks: HookConfig | null
  /** Why a file that is there is not used, for the user. */
  problem: string | null
}

/** The hooks that a repository brings. A file that cannot be used is a problem and no hook of it runs. */
export async function repositoryHooks(hands: Hands, dir: string): Promise<RepositoryHooks> {
  for (const file of files) {
    const text = await read(hands, `${dir}/${file}`)
    if (text === null) continue
    const refused = (why: string) => ({ hooks: null, problem: `${file} is not used: ${why}` })
    if (text.length > largest) return refused('it is larger than 256 KiB.')
    try {
      const read = HookConfigInput.safeParse(JSON.parse(text))
      if (read.success) return { hooks: read.data, problem: null }
      const [issue] = read.error.issues
      return refused(`${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'it does not fit the schema'}`)
    } catch {
      return refused('it is not JSON.')
    }
  }
  return { hooks: null, problem: null }
}

async function read({ files: there }: Hands, path: string): Promise<string | null> {
  try {
    return (await there.read(path, { from: 0, length: largest + 1 })).toString('utf8')
  } catch (error) {
    if (error instanceof FileError) return null
    throw error
  }
}
