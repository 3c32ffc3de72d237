import type { EventBodies, LogEvent } from '@parley/contract/events'
import type { Model } from '../model/model.ts'

/** Makes a history smaller. Null: it cannot. `reason`: the provider refused it for its length, or somebody asked. */
export type Condenser = (ask: {
  events: readonly LogEvent[]
  reason: 'overflow' | 'request'
  model: Model
  signal: AbortSignal
}) => Promise<EventBodies['Condensation'] | null>

/**
 * Leaves out the older half of the answers that the model acted on, each with all its calls and results, and says so in
 * their place. What people said stays. Needs no model.
 */
export const forgetOldest: Condenser = ({ events }) => {
  const gone = new Set(events.flatMap((event) => (event.kind === 'Condensation' ? event.forgotten_event_ids : [])))
  const batches = new Map<string, string[]>()
  const ofCall = new Map<string, string[]>()
  for (const event of events) {
    if (gone.has(event.id)) continue
    if (event.kind === 'ActionEvent') {
      const batch = batches.get(event.llm_response_id) ?? []
      batches.set(event.llm_response_id, batch)
      ofCall.set(event.tool_call_id, batch)
      batch.push(event.id)
    } else if (isResult(event)) ofCall.get(event.tool_call_id)?.push(event.id)
  }
  const dropped = [...batches.values()].slice(0, Math.floor(batches.size / 2))
  if (dropped.length === 0) return Promise.resolve(null)
  return Promise.resolve({
    forgotten_event_ids: dropped.flat(),
    summary:
      'Earlier steps of this conversation are left out here, because they no longer fit. Look at the files for their results.',
    summary_offset: null,
    llm_response_id: '',
  })
}

const isResult = (event: LogEvent) =>
  event.kind === 'ObservationEvent' || event.kind === 'UserRejectObservation' || event.kind === 'AgentErrorEvent'
