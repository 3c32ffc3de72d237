import type { AppConversation } from '@parley/contract/conversations'
import { Link } from '@tanstack/react-router'
import { t } from '../i18n/translate.ts'
import { StatusChip } from '../ui/StatusChip.tsx'
import { Time } from '../ui/Time.tsx'
import { visible } from '../ui/visible.ts'

/** A conversation in a list. */
export function Row({ of: one }: { of: AppConversation }) {
  return (
    <Link
      to="/conversations/$id"
      params={{ id: one.id }}
      className="flex min-h-14 min-w-0 flex-1 flex-wrap items-center gap-x-3 gap-y-0.5 px-4 py-2 hover:bg-panel"
    >
      <span className="min-w-0 flex-1 basis-60">
        <span className="block truncate font-medium">{visible(one.title ?? t('ui.untitled'))}</span>
        {one.selected_repository !== null && (
          <span className="block truncate text-sm text-soft">
            {visible(one.selected_repository)}
            {one.selected_branch !== null && ` · ${visible(one.selected_branch)}`}
          </span>
        )}
      </span>
      {Object.entries(one.tags)
        .slice(0, 3)
        .map(([name, value]) => (
          <span key={name} className="max-w-40 truncate rounded-md border border-line px-1.5 py-0.5 text-xs text-soft">
            {visible(`${name}: ${value}`)}
          </span>
        ))}
      <StatusChip of={one} />
      <span className="text-right text-sm text-soft max-sm:ml-auto sm:w-16">
        <Time at={one.updated_at} />
      </span>
    </Link>
  )
}
