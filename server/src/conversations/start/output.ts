import { type Masker, masker } from '@parley/agent/mask'
import type { SecretSource } from '@parley/contract/secret-sources'
import { startOutputKept } from '@parley/contract/start-tasks'
import type { SecretsService } from '../../secrets/service.ts'
import type { Progress } from './progress.ts'
import type { StartTaskStore } from './store.ts'

/** What a step prints, for whoever watches the start: without secrets, of bounded length, and written down now and then. */

const everyMs = 500

export interface Output {
  hear(text: string): void
  /** Resolves when all that was heard is written down. Never rejects: who watches is no reason for a start to fail. */
  end(): Promise<void>
}

interface Parts {
  store: Pick<StartTaskStore, 'hear'>
  secrets: Pick<SecretsService, 'values'>
}

/** @param handed secrets that came with the request */
export async function outputOf(
  { store, secrets }: Parts,
  { task: { id, owner_id, status }, written }: Pick<Progress, 'task' | 'written'>,
  handed: Readonly<Record<string, SecretSource>>,
): Promise<Output> {
  const mask: ReturnType<Masker['stream']> = masker([...(await secrets.values(owner_id)), ...saidIn(handed)]).stream()
  let waiting = ''
  let writing: Promise<void> = Promise.resolve()
  const write = () => {
    const text = waiting
    waiting = ''
    // The task is in this status for the database too when it is written.
    const hear = () => written().then(() => store.hear(id, status, text))
    if (text !== '') writing = writing.then(hear).catch(() => {})
  }
  const timer = setInterval(write, everyMs)
  const take = (text: string) => {
    // A text of the database holds no NUL.
    waiting = (waiting + text.replaceAll('\u0000', '')).slice(-startOutputKept)
  }
  return {
    hear: (text) => take(mask.push(text)),
    async end() {
      clearInterval(timer)
      take(mask.end())
      write()
      await writing
    },
  }
}

function saidIn(handed: Readonly<Record<string, SecretSource>>): { name: string; value: string }[] {
  return Object.entries(handed).flatMap(([name, source]) => {
    if (typeof source === 'string') return [{ name, value: source }]
    return source.kind === 'StaticSecret' ? [{ name, value: source.value }] : []
  })
}
