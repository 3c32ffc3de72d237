import type { EventOf } from '../loop/events.ts'
import { atomsOf } from './atoms.ts'
import type { Condensed, Past } from './condenser.ts'

/** Results above so many tokens, of answers before the last so many, may be put away. */
const largeTokens = 2_000
const recentAnswers = 10
const goal = 0.45
/** Of the window; a smaller gain is not worth a new prompt for the provider's cache. */
const leastGain = 0.05

type Observed = EventOf<'ObservationEvent'>

/**
 * Level A: shows large old results as a note that says where the whole of it is, the largest first, all in one go. Null when
 * there is too little of that kind.
 */
export async function putResultsAway(past: Past): Promise<Condensed['stubs'] | null> {
  const { window, tokens } = past.size
  if (window === null) return null
  const chosen: Observed[] = []
  let gain = 0
  for (const event of largestFirst(past)) {
    if (tokens - gain <= goal * window) break
    gain += textOf(event).length / 4
    chosen.push(event)
  }
  if (gain < leastGain * window) return null
  return Promise.all(chosen.map(async (event) => ({ event_id: event.id, note: await noteOf(event, past) })))
}

function largestFirst({ events, view }: Past): Observed[] {
  const answers = atomsOf(events, view.forgotten).filter((atom) => atom.kind === 'answer')
  const old = answers.slice(0, -recentAnswers).flatMap((atom) => atom.events)
  const large = old.filter(
    (event): event is Observed =>
      event.kind === 'ObservationEvent' &&
      !view.forgotten.stubs.has(event.id) &&
      textOf(event).length > largeTokens * 4,
  )
  return large.toSorted((a, b) => textOf(b).length - textOf(a).length)
}

async function noteOf(event: Observed, past: Past): Promise<string> {
  const text = textOf(event)
  const path = await past.putAway(event.seq, text)
  const again = path === null ? 'Ask for it again if you need it.' : `All of it is in ${path}.`
  return `[The result of ${event.tool_name}, ${text.length} characters, is not shown any more to save room (event ${event.seq}). ${again}]`
}

const textOf = ({ observation }: Observed): string =>
  observation.content.map((part) => (part.type === 'text' ? part.text : '')).join('\n')

/** For a history that did not fit as it is: every longer result is only begun. Nobody is shown this but the summariser. */
export function shortened({ events, view }: Past): { event_id: string; note: string }[] {
  const most = 1_000
  return events.flatMap((event) => {
    if (event.kind !== 'ObservationEvent' || view.forgotten.ids.has(event.id)) return []
    const text = textOf(event)
    return text.length > most ? [{ event_id: event.id, note: `${text.slice(0, most)} [… cut]` }] : []
  })
}
