import { first } from './0001-first.ts'
import { webhooks } from './0002-webhooks.ts'
import { people } from './0003-people.ts'
import { extensions } from './0004-extensions.ts'
import { once } from './0005-once.ts'
import { checkpoints } from './0006-checkpoints.ts'
import { network } from './0007-network.ts'
import { usage } from './0011-usage.ts'
import { startOutput } from './0012-start-output.ts'
import { titles } from './0013-titles.ts'
import { titleUsage } from './0014-title-usage.ts'

/** One list for the whole database, in order. Forward only. */
export const migrations = {
  '0001-first': first,
  '0002-webhooks': webhooks,
  '0003-people': people,
  '0004-extensions': extensions,
  '0005-once': once,
  '0006-checkpoints': checkpoints,
  '0007-network': network,
  '0011-usage': usage,
  '0012-start-output': startOutput,
  '0013-titles': titles,
  '0014-title-usage': titleUsage,
}
