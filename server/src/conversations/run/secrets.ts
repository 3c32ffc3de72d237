import type { RunOptions } from '@parley/agent/loop/work'
import { type LogEvent, type NewEvent, warning } from '@parley/contract/events'
import type { LookupSecret, SecretSource } from '@parley/contract/secret-sources'
import type { Clock } from '@parley/store/clock'
import type { SealedConfig } from '../config.ts'

/*
 * The secrets of a run. Values that are said are there from the beginning; values that are looked up are fetched when a command
 * first names them, hidden from then on, and fetched anew after a while.
 */

export interface SecretValue {
  name: string
  description: string
  value: string
  /** What commands see. */
  shown: string
}

interface Lookup extends LookupSecret {
  name: string
}

export interface RunSecrets {
  /** To be hidden from the start. */
  said: SecretValue[]
  lookups: Lookup[]
}

/** Those of the start request win over stored ones of the same name. */
export function secretsOf(
  stored: readonly (Omit<SecretValue, 'description'> & { description: string | null })[],
  sealed: SealedConfig,
): RunSecrets {
  const handed = Object.entries(sealed.secrets)
  const rest = stored.filter(({ name }) => !(name in sealed.secrets))
  return {
    said: [
      ...rest.map((one) => ({ ...one, description: one.description ?? '' })),
      ...handed.flatMap(([name, source]) => saidOf(name, source)),
    ],
    lookups: handed.flatMap(([name, source]) =>
      typeof source === 'object' && source.kind === 'LookupSecret' ? [{ ...source, name }] : [],
    ),
  }
}

function saidOf(name: string, source: SecretSource): SecretValue[] {
  if (typeof source === 'string') return [{ name, value: source, shown: source, description: '' }]
  if (source.kind !== 'StaticSecret') return []
  const { value, description } = source
  return [{ name, value, shown: value, description: description ?? '' }]
}

/** What opens the addresses. */
export const headersOf = ({ lookups }: RunSecrets): { name: string; value: string }[] =>
  lookups.flatMap(({ name, headers }) => Object.values(headers).map((value) => ({ name, value })))

const lookupMs = 30_000
const keptMs = 5 * 60_000
const failedMs = 60_000
const largest = 65_536

export interface HandingOut {
  clock: Clock
  /** Refuses addresses that may not be reached. */
  fetch: typeof fetch
  /** Told of each value before anybody gets it. */
  hide: (name: string, value: string) => void
  /** Told of a value that cannot be had. */
  tell: (event: NewEvent) => void
}

export function handedOut({ said, lookups }: RunSecrets, parts: HandingOut): RunOptions['secrets'] {
  const names = [...said, ...lookups].map(({ name, description }) => ({ name, description: description ?? '' }))
  const fetched = new Map<string, { value: Promise<string | null>; until: number }>()

  function valueOf(lookup: Lookup): Promise<string | null> {
    const known = fetched.get(lookup.name)
    if (known !== undefined && known.until > parts.clock.millis()) return known.value
    const entry = { value: lookUp(lookup, parts), until: parts.clock.millis() + keptMs }
    fetched.set(lookup.name, entry)
    void entry.value.then((value) => {
      if (value === null) entry.until = parts.clock.millis() + failedMs
    })
    return entry.value
  }

  return {
    names: () => names,
    async valuesFor(text) {
      const wanted = namesIn(text)
      const known = said.filter(({ name }) => wanted.has(name)).map(({ name, shown }) => [name, shown] as const)
      const asked = lookups.filter(({ name }) => wanted.has(name))
      const found = await Promise.all(asked.map(async (one) => [one.name, await valueOf(one)] as const))
      return Object.fromEntries([...known, ...found.filter((pair): pair is [string, string] => pair[1] !== null)])
    },
  }
}

/** As `$NAME` or `${NAME}`. */
const namesIn = (text: string): Set<string> =>
  new Set([...text.matchAll(/\$\{?([A-Za-z_][A-Za-z0-9_]*)/g)].flatMap((found) => found[1] ?? []))

/** The text of all actions so far that name a secret: its value may be in files, so it is fetched to be hidden. */
export const namedBefore = (events: readonly LogEvent[], { lookups }: RunSecrets): string =>
  lookups.length === 0
    ? ''
    : events.map((event) => (event.kind === 'ActionEvent' ? event.tool_call.arguments : '')).join('\n')

async function lookUp({ name, url, headers }: Lookup, { fetch, hide, tell }: HandingOut): Promise<string | null> {
  try {
    const answer = await fetch(url, { headers, redirect: 'error', signal: AbortSignal.timeout(lookupMs) })
    if (!answer.ok) {
      await answer.body?.cancel()
      throw new Error(`the address answered ${answer.status}`)
    }
    const value = (await limited(answer)).trim()
    if (value === '') throw new Error('the answer is empty')
    hide(name, value)
    return value
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    const detail = `The secret ${name} could not be looked up: ${why.slice(0, 500)}. Commands go without it.`
    tell(warning('secret_unavailable', detail))
    return null
  }
}

async function limited(answer: Response): Promise<string> {
  const pieces: Uint8Array[] = []
  let size = 0
  for await (const piece of answer.body ?? []) {
    pieces.push(piece)
    if ((size += piece.byteLength) > largest) throw new Error('the answer is larger than 64 KiB')
  }
  return Buffer.concat(pieces).toString('utf8')
}
