import { executionStatuses } from '@parley/contract/execution'
import { triggers } from '@parley/contract/start-request'
import { TagFilter } from '@parley/contract/tags'

/* What the list of conversations is narrowed by, as it stands in the fields. */

export interface Filter {
  title: string
  status: string
  trigger: string
  repository: string
  tag: string
}

export const everything: Filter = { title: '', status: '', trigger: '', repository: '', tag: '' }

const wholeName = /^[^\s/]+(\/[^\s/]+)+$/
/** A label as people write it: `team: parsers`. */
const tagOf = (text: string): string => text.replace(/\s*:\s*/, ':').trim()

/** Only what is set and can be asked for: a name that is half typed narrows nothing yet. */
export function queryOf({ title, status, trigger, repository, tag }: Filter) {
  const execution_status__eq = executionStatuses.find((one) => one === status)
  const trigger__eq = triggers.find((one) => one === trigger)
  return {
    ...(title.trim() === '' ? {} : { title__contains: title.trim() }),
    ...(execution_status__eq === undefined ? {} : { execution_status__eq }),
    ...(trigger__eq === undefined ? {} : { trigger__eq }),
    ...(wholeName.test(repository.trim()) ? { selected_repository__eq: repository.trim() } : {}),
    ...(TagFilter.safeParse(tagOf(tag)).success ? { tag__eq: tagOf(tag) } : {}),
  }
}
