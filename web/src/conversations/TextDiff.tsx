import 'react-diff-view/style/index.css'
import { useMemo } from 'react'
import { Diff, Hunk, parseDiff } from 'react-diff-view'
import { t } from '../i18n/translate.ts'
import { visible } from '../ui/visible.ts'
import { patchOf } from './patch.ts'

interface TextDiffProps {
  path: string
  original: string | null
  modified: string | null
  /** Side by side instead of one below the other. */
  isSplit: boolean
}

export function TextDiff({ path, original, modified, isSplit }: TextDiffProps) {
  const file = useMemo(() => {
    const shown = (text: string | null) => (text === null ? null : visible(text.replaceAll('\r\n', '\n')))
    return parseDiff(patchOf('file', shown(original), shown(modified)))[0]
  }, [original, modified])
  if (file === undefined || file.hunks.length === 0)
    return <p className="p-3 text-sm text-soft">{t('changes.no-diff')}</p>
  return (
    <div className="overflow-x-auto text-[0.8125rem]" role="region" aria-label={t('changes.of', { path })} tabIndex={0}>
      <Diff viewType={isSplit ? 'split' : 'unified'} diffType={file.type} hunks={file.hunks}>
        {(hunks) => hunks.map((hunk) => <Hunk key={hunk.content} hunk={hunk} />)}
      </Diff>
    </div>
  )
}
