import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** Path in the repository to text. */
export type Files = Record<string, string>

export interface RepositorySetup {
  /** What `main` has; a README when left out. */
  files?: Files
  /** Further branches: what each changes against `main`. A list is of branches that stand where `main` stands. */
  branches?: Record<string, Files> | readonly string[]
}

/** The environment of a git that looks at nothing but the repository it is given. */
export const plainGit = {
  PATH: process.env['PATH'] ?? '/usr/bin:/bin',
  HOME: '/nonexistent',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_TERMINAL_PROMPT: '0',
}

/** A bare repository at `path` with one commit per branch. The same set-up gives the same commits. */
export async function makeBareRepository(path: string, setup: RepositorySetup): Promise<void> {
  for (const folder of ['objects', 'refs']) await mkdir(join(path, folder), { recursive: true })
  await writeFile(join(path, 'HEAD'), 'ref: refs/heads/main\n')
  await writeFile(join(path, 'config'), '[core]\n\trepositoryformatversion = 0\n\tbare = true\n')
  const importer = spawn('git', ['-C', path, 'fast-import', '--quiet'], {
    env: plainGit,
    stdio: ['pipe', 'ignore', 'pipe'],
  })
  const complaint = importer.stderr.setEncoding('utf8').toArray()
  importer.stdin.end(importStream(setup))
  const [code] = (await once(importer, 'close')) as [number | null]
  if (code !== 0) throw new Error(`git fast-import failed: ${(await complaint).join('')}`)
}

/** Name, commit and time of every branch, in git's order. */
export async function branchesOf(path: string): Promise<{ name: string; sha: string; date: string }[]> {
  const format = '--format=%(refname:short)%00%(objectname)%00%(committerdate:iso-strict)'
  const { stdout } = await run('git', ['-C', path, 'for-each-ref', format, 'refs/heads'], { env: plainGit })
  return stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const [name = '', sha = '', date = ''] = line.split('\0')
      return { name, sha, date }
    })
}

function importStream({ files = { 'README.md': '# A repository\n' }, branches = {} }: RepositorySetup): string {
  const further: Record<string, Files> = Array.isArray(branches)
    ? Object.fromEntries(branches.map((name: string) => [name, {}]))
    : (branches as Record<string, Files>)
  const main = commit('main', files, null, 1)
  const others = Object.entries(further).map(([name, changes]) =>
    Object.keys(changes).length === 0 ? `reset refs/heads/${name}\nfrom :1\n\n` : commit(name, changes, ':1', null),
  )
  return [main, ...others, 'done\n'].join('')
}

function commit(branch: string, files: Files, from: string | null, mark: number | null): string {
  const data = (text: string) => `data ${Buffer.byteLength(text)}\n${text}\n`
  return [
    `commit refs/heads/${branch}\n`,
    mark === null ? '' : `mark :${mark}\n`,
    'committer Ada <ada@example.test> 1700000000 +0000\n',
    data(`Set up ${branch}`),
    from === null ? '' : `from ${from}\n`,
    ...Object.entries(files).map(([path, text]) => `M 100644 inline ${path}\n${data(text)}`),
    '\n',
  ].join('')
}
