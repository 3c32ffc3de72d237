import { promisify } from 'node:util'
import { deflate, type ZlibOptions } from 'node:zlib'
import { type NewEvent, warning } from '@parley/contract/events'
import { Problem } from '@parley/contract/problems'
import type { Limits } from '../../limits.ts'
import type { Sandboxes } from '../../sandboxes/service.ts'
import {
  CheckpointFailed,
  collect,
  type Collected,
  type Collecting,
  type ListedObject,
  objectBytes,
  startAnew,
} from './collect.ts'
import { few } from './few.ts'
import { algorithmOf, oidOf } from './objects.ts'
import { openSnapshot } from './read.ts'
import { restorer } from './restore.ts'
import type { CheckpointStore, Made, StoredObject, Workplace } from './store.ts'

/*
 * Keeps the last state of each working directory in the database, where every replica can read it and where it survives the
 * sandbox and its machine. Only what the checkpoint before does not have is read. A failure is an event, and the checkpoint
 * before stays.
 */

export interface CheckpointParts {
  store: CheckpointStore
  sandboxes: Pick<Sandboxes, 'hands' | 'usable'>
  limits: Limits
  /** Appends to the log of a conversation. */
  tell: (conversation: string, event: NewEvent) => Promise<void>
  log: (message: string, details?: Record<string, unknown>) => void
}

export type Checkpoints = ReturnType<typeof checkpointsOf>

/** `well`, `leaving`: with a new look for small files that git ignores; `leaving`: also while the sandbox is to be paused. */
type How = 'quick' | 'well' | 'leaving'

/** Objects that are read, compressed and stored together. */
const groupBytes = 4 * 2 ** 20
const groupObjects = 1_000
const mostNamed = 10
/** Many runs may end together, and each save asks the database and the sandbox for much. */
const mostAtOnce = 4

export function checkpointsOf({ store, sandboxes, limits: { checkpoints: limits }, tell, log }: CheckpointParts) {
  const going = new Map<string, Promise<void>>()
  const inTurn = few(mostAtOnce)
  /** What each log was told last: it is told again when it changes. */
  const told = new Map<string, string>()
  const closing = new AbortController()

  async function save(place: Workplace, how: How): Promise<void> {
    const { id, owner_id, sandbox_id } = place
    const opening = { leaving: how === 'leaving' }
    if (!(await sandboxes.usable(sandbox_id, opening))) return
    const signal = AbortSignal.any([closing.signal, AbortSignal.timeout(limits.deadline)])
    try {
      const hands = await sandboxes.hands(owner_id, sandbox_id, signal, opening)
      const what: Collecting = {
        hands,
        dir: place.working_dir,
        name: id,
        base: place.base_commit,
        mostFile: limits.file,
        mostAll: limits.size,
        thorough: how !== 'quick',
        signal,
      }
      const { left, unread } = await keep(id, what)
      await say(id, incomplete(left, unread))
    } catch (error) {
      // Before a pause one is made in any case, and says what there is to say.
      if (closing.signal.aborted || !(await sandboxes.usable(sandbox_id, opening))) return
      log('A checkpoint could not be made.', { conversation: id, error })
      const last = await store.last(id)
      await say(id, failed(signal.aborted ? 'it took too long' : reasonOf(error), last?.at))
    }
  }

  async function keep(id: string, what: Collecting): Promise<Collected> {
    const last = await store.last(id)
    const made = await collectAgain(what, last?.root ?? null)
    if (made.root === last?.root) return made
    const fresh = await unknown(id, made.objects)
    const bytes = (last?.bytes ?? 0) + sum(fresh)
    if (bytes > limits.size) return keepAlone(id, what)
    await add(id, what, fresh, { root: made.root, bytes })
    return made
  }

  /** There is room for the newest alone, or for none. */
  async function keepAlone(id: string, what: Collecting): Promise<Collected> {
    const whole = await collectAgain(what, null)
    const bytes = sum(whole.objects)
    if (bytes > limits.size)
      throw new CheckpointFailed(`it has ${mebibytes(bytes)}, and ${mebibytes(limits.size)} is the limit`)
    const oids = whole.objects.map(({ oid }) => oid)
    await add(id, what, await unknown(id, whole.objects), { root: whole.root, bytes })
    await store.keepOnly(id, oids)
    return whole
  }

  /** Objects that came with their bytes are few, and are known to be new. */
  async function unknown(id: string, objects: readonly ListedObject[]): Promise<readonly ListedObject[]> {
    if (objects.every(({ bytes }) => bytes !== undefined)) return objects
    const absent = await store.missing(
      id,
      objects.map(({ oid }) => oid),
    )
    return objects.filter(({ oid }) => absent.has(oid))
  }

  /** The checkpoint is the new one with the last of its objects. */
  async function add(id: string, what: Collecting, objects: readonly ListedObject[], made: Made): Promise<void> {
    const all = [...groups(objects)]
    for (const group of all) {
      const bytes = await objectBytes(what, group)
      const stored = await Promise.all(group.map((one, index) => packed(one, bytes[index] ?? Buffer.alloc(0))))
      const there = await store.add(id, stored, group === all.at(-1) ? made : undefined)
      if (!there) throw new CheckpointFailed('the conversation is gone')
    }
  }

  async function say(id: string, event: NewEvent | undefined): Promise<void> {
    const text = event === undefined ? '' : JSON.stringify(event)
    if ((told.get(id) ?? '') === text) return
    if (event !== undefined) await tell(id, event)
    if (text === '') told.delete(id)
    else told.set(id, text)
  }

  /** One after the other for each directory. Never rejects. */
  async function saved(conversation: string, how: How): Promise<void> {
    try {
      const place = await store.workplace(conversation)
      if (place === undefined) return
      const work = () => save(place, how)
      // What the end of a sandbox waits for goes before what a run leaves behind.
      const next = (going.get(place.id) ?? Promise.resolve()).then(() => (how === 'quick' ? inTurn(work) : work()))
      const settled = next.catch((error: unknown) => log('A checkpoint could not be told of.', { conversation, error }))
      going.set(place.id, settled)
      await settled
      if (going.get(place.id) === settled) going.delete(place.id)
    } catch (error) {
      if (!closing.signal.aborted) log('A checkpoint could not be made.', { conversation, error })
    }
  }

  return {
    /** Resolves when the working directory is as safe as it can be; what stands in the way is told in the log. */
    save: (conversation: string): Promise<void> => saved(conversation, 'quick'),

    /** The same with a new look for small files that git ignores. */
    saveWell: (conversation: string): Promise<void> => saved(conversation, 'well'),

    /** Before the files of a sandbox are out of reach. */
    async saveAll(sandbox: string): Promise<void> {
      for (const conversation of await store.inSandbox(sandbox)) await saved(conversation, 'leaving')
      closing.signal.throwIfAborted()
    },

    /** The last checkpoint of a conversation's working directory. */
    open: openSnapshot(store),
    async savedAt(conversation: string): Promise<string | null> {
      const place = await store.workplace(conversation)
      return place === undefined ? null : ((await store.last(place.id))?.at ?? null)
    },
    restore: restorer(store),
    /** A fork begins with what its parent has. */
    copy: store.copy,
    /** To everybody with a working directory of their own in the sandbox. */
    async tellAll(sandbox: string, event: NewEvent): Promise<void> {
      for (const conversation of await store.inSandbox(sandbox)) await tell(conversation, event)
    },

    everyMs: limits.every,

    async close(): Promise<void> {
      closing.abort(new Error('the server is stopping'))
      await Promise.all(going.values())
    },
  }
}

/** With the store in the sandbox made anew when it is broken: what runs there can write to it. */
async function collectAgain(what: Collecting, before: string | null): Promise<Collected> {
  try {
    return await collect(what, before)
  } catch (error) {
    if (!(error instanceof CheckpointFailed) || !error.broken) throw error
    await startAnew(what)
    return collect(what, before)
  }
}

/** At least one, which may be empty. */
function* groups(objects: readonly ListedObject[]): Generator<ListedObject[]> {
  let group: ListedObject[] = []
  let bytes = 0
  for (const one of objects) {
    if (group.length > 0 && (bytes + one.size > groupBytes || group.length === groupObjects)) {
      yield group
      group = []
      bytes = 0
    }
    group.push(one)
    bytes += one.size
  }
  yield group
}

const pack = promisify<Buffer, ZlibOptions, Buffer>(deflate)

/** Most objects are small, and a large window costs more to set up than they are worth. */
const packing = (size: number): ZlibOptions => ({
  level: 3,
  windowBits: Math.min(15, Math.max(9, Math.ceil(Math.log2(size + 1)))),
  memLevel: size < 65_536 ? 4 : 8,
})

async function packed(object: ListedObject, bytes: Buffer): Promise<StoredObject> {
  const { oid, kind, size } = object
  if (oidOf(kind, bytes, algorithmOf(oid)) !== oid)
    throw new CheckpointFailed(`object ${oid} is not what it is called`, true)
  return { oid, kind, size, body: await pack(bytes, packing(size)) }
}

const sum = (objects: readonly ListedObject[]): number => objects.reduce((total, { size }) => total + size, 0)
const mebibytes = (bytes: number): string => `${Math.ceil(bytes / 2 ** 20)} MiB`

const reasonOf = (error: unknown): string => {
  if (error instanceof CheckpointFailed) return error.message
  return error instanceof Problem && error.detail !== undefined ? error.detail : 'the sandbox could not be reached'
}

const failed = (reason: string, at: string | undefined): NewEvent =>
  warning(
    'checkpoint_failed',
    `The files of the workspace could not be saved outside the sandbox: ${reason}. ` +
      (at === undefined ? 'They were never saved.' : `They are saved as they were at ${at}.`),
  )

function incomplete(left: readonly string[], unread: boolean): NewEvent | undefined {
  const named = left.slice(0, mostNamed).join(', ')
  const more = left.length > mostNamed ? ` and ${left.length - mostNamed} more` : ''
  const large = left.length === 0 ? '' : ` Too large: ${named}${more}.`
  const closed = unread ? ' Some could not be read.' : ''
  if (large === '' && closed === '') return undefined
  return warning('checkpoint_incomplete', `Not all files are saved outside the sandbox.${large}${closed}`)
}
