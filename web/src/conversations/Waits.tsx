import type { AppConversation } from '@parley/contract/conversations'
import { useQuery } from '@tanstack/react-query'
import { client } from '../api.ts'
import { Elapsed } from '../ui/Elapsed.tsx'
import { visible } from '../ui/visible.ts'

/** What the conversation is waiting for, while that is not plain to see. */
export function Waits({ of: one }: { of: AppConversation }) {
  const isWorking = one.execution_status === 'running' || one.sandbox_status === 'STARTING'
  const why = useQuery({
    queryKey: ['why', one.id, one.execution_status, one.last_seq],
    queryFn: () => client.conversations.why({ params: { id: one.id } }),
    enabled: isWorking || one.error !== null,
    refetchInterval: isWorking ? 3000 : false,
    placeholderData: (last) => last,
  })
  return (
    <p role="status" className="min-h-6 truncate px-1 pb-1 text-xs text-soft">
      {(isWorking || one.error !== null) && why.data !== undefined && (
        <>
          {visible(why.data.detail)} <Elapsed since={why.data.since} />
        </>
      )}
    </p>
  )
}
