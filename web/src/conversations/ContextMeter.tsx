import type { AppConversation } from '@parley/contract/conversations'
import { useMutation } from '@tanstack/react-query'
import { DropdownMenu } from 'radix-ui'
import { compact, percent } from '../i18n/format.ts'
import { t } from '../i18n/translate.ts'
import { canSay, tell } from './verbs.ts'

/** How full the model's window is, and the way to make room in it. The word says what the bar shows. */
export function ContextMeter({ of: one }: { of: AppConversation }) {
  const condense = useMutation({ mutationFn: () => tell(one.id, 'condense') })
  const usage = one.metrics?.accumulated_token_usage
  if (!usage || usage.context_window <= 0) return null
  const { per_turn_token: used, context_window: all } = usage
  const share = Math.min(1, used / all)
  return (
    <>
      <DropdownMenu.Root modal={false}>
        <DropdownMenu.Trigger
          title={t('chat.context')}
          className="-my-1 flex min-h-7 items-center gap-1.5 rounded-md px-1.5 whitespace-nowrap hover:bg-panel hover:text-ink"
        >
          <meter aria-hidden className="meter h-1.5 w-14" min={0} max={1} high={0.8} optimum={0} value={share} />
          {t('chat.context-of', { share: percent(share) })}
        </DropdownMenu.Trigger>
        <DropdownMenu.Portal>
          <DropdownMenu.Content
            align="end"
            sideOffset={6}
            collisionPadding={8}
            className="card z-10 w-72 max-w-[calc(100vw-1rem)] p-1 shadow-lg"
          >
            <DropdownMenu.Label className="px-3 pt-2 pb-1 text-sm">
              {t('chat.context-tokens', { used: compact(used), all: compact(all) })}
            </DropdownMenu.Label>
            <Condense disabled={!canSay(one)} onSelect={() => condense.mutate()} />
          </DropdownMenu.Content>
        </DropdownMenu.Portal>
      </DropdownMenu.Root>
      {condense.error !== null && (
        <span role="alert" className="text-bad">
          {condense.error.message}
        </span>
      )}
    </>
  )
}

const Condense = (props: Pick<DropdownMenu.DropdownMenuItemProps, 'disabled' | 'onSelect'>) => (
  <DropdownMenu.Item
    {...props}
    className="block rounded px-3 py-2 text-sm outline-none data-disabled:opacity-50 data-highlighted:bg-panel"
  >
    <span className="font-medium">{t('chat.condense')}</span>
    <span className="block text-xs text-soft">{t('chat.condense.about')}</span>
  </DropdownMenu.Item>
)
