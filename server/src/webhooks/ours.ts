import type { SubjectStore } from '../conversations/service.ts'
import type { ReportStore } from './report-store.ts'

export interface OursParts {
  subjects: Pick<SubjectStore, 'inSandbox'>
  reports: Pick<ReportStore, 'countMade'>
}

/** Whether Parley works in this sandbox itself. */
export async function isOurs({ subjects, reports }: OursParts, sandbox: string): Promise<boolean> {
  const there = await subjects.inSandbox(sandbox)
  const made = there.filter((id) => id !== null)
  return made.length < there.length || (await reports.countMade(made)) < made.length
}
