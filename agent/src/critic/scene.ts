import type { LogEvent } from '@parley/contract/events'
import type { Hands } from '@parley/sandbox/driver'
import type { Clock } from '@parley/store/clock'
import { runHook } from '../hooks/command.ts'
import type { Scene } from './critic.ts'

/** What git calls a tree without files: everything is new compared with it. */
const emptyTree = '4b825dc642cb6eb9a060e54bf8d69288fbee4904'
const patchMs = 30_000
const mostPatch = 1024 * 1024

/** Reads only: the index of the repository stays as it is. */
const patchScript = `
cd -- "$1" || exit 1
git diff --no-ext-diff --no-color "$2" -- . || exit 1
git ls-files --others --exclude-standard | sed 's/^/?? /'`

export interface SceneParts {
  hands: (signal: AbortSignal) => Promise<Hands>
  workingDir: string
  /** The commit the work began from; null: there was none. */
  baseCommit: string | null
  clock: Clock
  finished: boolean
  history: readonly LogEvent[]
}

/** The work as a critic sees it, in the sandbox. */
export const sceneIn = ({ hands, workingDir, baseCommit, clock, finished, history }: SceneParts): Scene => ({
  finished,
  history,
  async patch(signal) {
    const args = [workingDir, baseCommit ?? emptyTree]
    const { run } = await hands(signal)
    const result = await run({ script: patchScript, args, timeoutMs: patchMs, maxBytes: mostPatch, signal })
    if (result.code !== 0) throw new Error(result.stderr.trim().split('\n')[0] || 'There is no repository.')
    return result.stdout.toString('utf8').trim()
  },
  async run(command, timeoutMs, signal) {
    const asked = { command, env: {}, cwd: workingDir, stdin: '', timeoutMs }
    const { code, stdout, stderr, error } = await runHook(await hands(signal), asked, clock, signal)
    return { code: error === null ? code : null, output: `${stdout}${stderr}${error ?? ''}` }
  },
})
