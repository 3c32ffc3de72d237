import { moment, relative } from '../i18n/format.ts'

/** When something was, as one says it; the exact time on hover. */
export function Time({ at }: { at: string }) {
  return (
    <time dateTime={at} title={moment(at)} className="whitespace-nowrap">
      {relative(at)}
    </time>
  )
}
