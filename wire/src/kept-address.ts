import { wrongValue } from '@parley/contract/problems'
import type { Outbound } from './outbound.ts'
import { OutboundRefused } from './refused.ts'

/**
 * An address at `path` of a body that is kept for later: refused at once when it says itself that it leads inside. Where a
 * name leads is known only when it is dialled.
 */
export function checkKept({ check }: Pick<Outbound, 'check'>, url: string, path: readonly string[]): void {
  try {
    check(url)
  } catch (error) {
    throw error instanceof OutboundRefused ? wrongValue(path, `cannot be used: ${error.message}`) : error
  }
}
