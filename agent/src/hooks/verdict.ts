import type { HookDefinition } from '@parley/contract/hook-config'
import { z } from 'zod'
import type { Ran } from './command.ts'

/** What one hook said. */
export interface Verdict {
  success: boolean
  blocked: boolean
  reason: string | null
  context: string | null
}

const Said = z.object({
  decision: z.enum(['allow', 'deny']).optional().catch(undefined),
  reason: z.string().optional().catch(undefined),
  additionalContext: z.string().optional().catch(undefined),
  continue: z.boolean().optional().catch(undefined),
})

const mostReason = 10_000

/**
 * Exit code 0 is success and 2 blocks with the standard error as the reason; anything else is a failure, which blocks only
 * where `on_failure` is `deny`. One JSON object on the standard output is read whatever the code.
 */
export function verdictOf(
  { on_failure }: Pick<HookDefinition, 'on_failure'>,
  { code, stdout, stderr, error }: Ran,
): Verdict {
  const said = read(stdout)
  const failed = error !== null || (code !== 0 && code !== 2)
  const refused = code === 2 || said.decision === 'deny' || said.continue === false
  const blocked = refused || (failed && on_failure === 'deny')
  const why = said.reason ?? (stderr.trim() || error || 'A hook refused it without a reason.')
  const reason = blocked ? why.slice(0, mostReason) : (said.reason ?? null)
  return { success: code === 0 && error === null, blocked, reason, context: said.additionalContext || null }
}

function read(stdout: string): z.infer<typeof Said> {
  try {
    const parsed = Said.safeParse(JSON.parse(stdout))
    return parsed.success ? parsed.data : {}
  } catch {
    return {}
  }
}
