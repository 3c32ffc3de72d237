import type { LogEvent } from '@parley/contract/events'
import { cutMiddle } from '../tools/observation.ts'

const mostFiles = 40
const skillCharacters = 6_000
const mostSkills = 4

/**
 * What must not depend on how well a summary is written, told from the events themselves: the list of tasks, the files, the
 * skills at hand. `gone`: the events that are left out now or were before.
 */
export function pinned(history: readonly LogEvent[], gone: ReadonlySet<string>): string {
  const events = history.filter(tells)
  const parts = [tasks(events), files(events), skills(events, gone), activated(events, gone)]
  return parts.filter((part) => part !== null).join('\n\n')
}

/** Few events of a long history do, so that it is read once. */
function tells(event: LogEvent): boolean {
  switch (event.kind) {
    case 'ObservationEvent':
      return event.observation.kind === 'TaskTrackerObservation' || event.observation.kind === 'InvokeSkillObservation'
    case 'ActionEvent':
      return event.action?.kind === 'FileEditorAction'
    case 'MessageEvent':
      return event.activated_skills !== undefined
    default:
      return false
  }
}

function tasks(events: readonly LogEvent[]): string | null {
  const last = events.findLast(
    (event) => event.kind === 'ObservationEvent' && event.observation.kind === 'TaskTrackerObservation',
  )
  const text = last === undefined ? '' : resultText(last)
  return text === '' ? null : `The list of tasks as it stands:\n${cutMiddle(text, 8_000)}`
}

function files(events: readonly LogEvent[]): string | null {
  const read = new Set<string>()
  const changed = new Set<string>()
  for (const event of events) {
    if (event.kind !== 'ActionEvent' || event.action?.kind !== 'FileEditorAction') continue
    const { path, command } = event.action
    if (typeof path !== 'string') continue
    const list = command === 'view' ? read : changed
    list.delete(path)
    list.add(path)
  }
  for (const path of changed) read.delete(path)
  const lines = [named('Files changed', changed), named('Files read', read)].filter((line) => line !== null)
  return lines.length === 0 ? null : lines.join('\n')
}

const named = (title: string, paths: ReadonlySet<string>): string | null =>
  paths.size === 0
    ? null
    : `${title}: ${[...paths].slice(-mostFiles).join(', ')}${paths.size > mostFiles ? ' and others' : ''}`

/** The newest reading of each skill, for what it says still holds. */
function skills(events: readonly LogEvent[], gone: ReadonlySet<string>): string | null {
  const texts = new Map<string, string>()
  for (const event of events) {
    if (!gone.has(event.id) || event.kind !== 'ObservationEvent') continue
    const { kind, skill, is_error } = event.observation
    if (kind !== 'InvokeSkillObservation' || typeof skill !== 'string' || is_error) continue
    texts.delete(skill)
    texts.set(skill, cutMiddle(resultText(event), skillCharacters))
  }
  return texts.size === 0 ? null : `Skills in use:\n${[...texts.values()].slice(-mostSkills).join('\n')}`
}

/** Skills that messages brought up come up once, so what left with its message is told again. */
function activated(events: readonly LogEvent[], gone: ReadonlySet<string>): string | null {
  const texts = events.flatMap((event) =>
    event.kind === 'MessageEvent' && gone.has(event.id) && event.activated_skills !== undefined
      ? (event.extended_content ?? []).flatMap((part) => (part.type === 'text' ? [part.text] : []))
      : [],
  )
  const kept = [...new Set(texts)].slice(-mostSkills).map((text) => cutMiddle(text, skillCharacters))
  return kept.length === 0 ? null : `Skills at hand:\n${kept.join('\n')}`
}

const resultText = (event: LogEvent): string =>
  event.kind === 'ObservationEvent'
    ? event.observation.content.map((part) => (part.type === 'text' ? part.text : '')).join('\n')
    : ''
