import type { AppConversation } from '@parley/contract/conversations'
import { Problem } from '@parley/contract/problems'
import { t } from '../i18n/translate.ts'
import { Empty } from '../ui/Empty.tsx'
import { ErrorNote } from '../ui/ErrorNote.tsx'

const expected: readonly string[] = ['state_conflict', 'gone']

/** Why there is nothing to see of the workspace: a sandbox that rests is no failure. */
export function Unreachable({ of: { sandbox_status }, error }: { of: AppConversation; error: unknown }) {
  if (error instanceof Problem && expected.includes(error.code) && sandbox_status !== 'RUNNING')
    return <Empty icon="box" text={t(sandbox_status === 'PAUSED' ? 'panel.paused' : 'panel.no-sandbox')} />
  return (
    <div className="p-4">
      <ErrorNote error={error} />
    </div>
  )
}
