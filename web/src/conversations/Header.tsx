import type { AppConversation } from '@parley/contract/conversations'
import { Link } from '@tanstack/react-router'
import { compact, dollars } from '../i18n/format.ts'
import { t } from '../i18n/translate.ts'
import { tabs } from '../tabs.ts'
import type { Tab } from '../tabs.ts'
import { SandboxChip, StatusChip } from '../ui/StatusChip.tsx'
import { visible } from '../ui/visible.ts'
import { ContextMeter } from './ContextMeter.tsx'
import { Controls } from './Controls.tsx'
import { More } from './More.tsx'

const place =
  'border-b-2 border-transparent px-1.5 py-2 text-[0.8125rem] sm:px-2.5 sm:text-sm whitespace-nowrap text-soft hover:text-ink data-[on=true]:border-accent data-[on=true]:text-ink'

/** What the conversation is, what it does, what it has cost, and what one can do with it. */
export function Header({ of: one, tab }: { of: AppConversation; tab: Tab | undefined }) {
  return (
    <div className="border-b border-line px-3 sm:px-4">
      <div className="flex flex-wrap items-center gap-x-2 gap-y-1 pt-1.5 sm:gap-x-3">
        <h1 className="min-w-24 flex-1 truncate font-semibold sm:min-w-48" title={visible(one.title ?? '')}>
          {visible(one.title ?? t('ui.untitled'))}
        </h1>
        <StatusChip of={one} />
        {one.execution_status !== null && one.sandbox_status !== 'RUNNING' && (
          <SandboxChip status={one.sandbox_status} />
        )}
        <Controls of={one} />
        <More of={one} />
      </div>
      <div className="flex flex-wrap items-center justify-between gap-x-4">
        <nav aria-label={t('chat.tabs')} className="-mx-1.5 -mb-px flex overflow-x-auto sm:-mx-2.5">
          {[undefined, ...tabs].map((part) => (
            <Link
              key={part ?? 'chat'}
              to="/conversations/$id"
              params={{ id: one.id }}
              search={part === undefined ? {} : { tab: part }}
              data-on={part === tab}
              aria-current={part === tab ? 'page' : undefined}
              className={place}
            >
              {t(`chat.tab.${part ?? 'chat'}`)}
            </Link>
          ))}
        </nav>
        <Spent of={one} />
      </div>
    </div>
  )
}

/** What it runs on, and what it has cost so far. */
function Spent({ of: one }: { of: AppConversation }) {
  const { metrics, llm_model, selected_repository } = one
  const usage = metrics?.accumulated_token_usage
  const tokens = (usage?.prompt_tokens ?? 0) + (usage?.completion_tokens ?? 0)
  const parts = [
    selected_repository,
    llm_model,
    metrics === null ? null : dollars(metrics.accumulated_cost),
    tokens === 0 ? null : t('chat.tokens-of', { tokens: compact(tokens) }),
  ]
  return (
    <div className="flex min-w-0 items-center gap-2 py-1 text-xs text-soft">
      <p className="truncate">{visible(parts.filter((part) => part !== null && part !== '').join(' · '))}</p>
      <ContextMeter of={one} />
    </div>
  )
}
