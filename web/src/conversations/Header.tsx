import type { AppConversation } from '@parley/contract/conversations'
import { Link } from '@tanstack/react-router'
import { tabs } from '../tabs.ts'
import type { Tab } from '../tabs.ts'
import { SandboxChip, StatusChip } from '../ui/StatusChip.tsx'
import { visible } from '../ui/visible.ts'
import { Controls } from './Controls.tsx'
import { More } from './More.tsx'

const place =
  'border-b-2 border-transparent px-2.5 py-2 text-sm text-soft capitalize hover:text-ink data-[on=true]:border-accent data-[on=true]:text-ink'

/** What the conversation is, what it does, what it has cost, and what one can do with it. */
export function Header({ of: one, tab }: { of: AppConversation; tab: Tab | undefined }) {
  return (
    <div className="border-b border-line px-3 sm:px-4">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1 pt-2">
        <h1 className="min-w-20 flex-1 truncate font-semibold sm:min-w-48" title={visible(one.title ?? '')}>
          {visible(one.title ?? 'Untitled conversation')}
        </h1>
        <StatusChip of={one} />
        {one.execution_status !== null && one.sandbox_status !== 'RUNNING' && (
          <SandboxChip status={one.sandbox_status} />
        )}
        <Controls of={one} />
        <More of={one} />
      </div>
      <div className="flex flex-wrap items-center justify-between gap-x-4">
        <nav aria-label="Parts of the conversation" className="-mb-px flex overflow-x-auto">
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
              {part ?? 'Chat'}
            </Link>
          ))}
        </nav>
        <Spent of={one} />
      </div>
    </div>
  )
}

const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 })

function Spent({ of: { metrics, llm_model, selected_repository } }: { of: AppConversation }) {
  const usage = metrics?.accumulated_token_usage
  const tokens = (usage?.prompt_tokens ?? 0) + (usage?.completion_tokens ?? 0)
  const full =
    usage && usage.context_window > 0 ? Math.round((100 * usage.per_turn_token) / usage.context_window) : null
  const parts = [
    selected_repository,
    llm_model,
    metrics === null ? null : `$${metrics.accumulated_cost.toFixed(metrics.accumulated_cost < 1 ? 4 : 2)}`,
    tokens === 0 ? null : `${compact.format(tokens)} tokens`,
    full === null ? null : `${full} % of the context`,
  ]
  return (
    <p className="truncate py-1 text-xs text-soft">
      {visible(parts.filter((part) => part !== null && part !== '').join(' · '))}
    </p>
  )
}
