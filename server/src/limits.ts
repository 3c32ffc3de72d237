import { readFileSync } from 'node:fs'
import { EgressPolicy, HostPattern } from '@parley/contract/egress'
import { parse, stringify } from 'yaml'
import { z } from 'zod'

/*
 * What an operator may bound. A limits file (YAML or JSON) names only what differs from these defaults. Durations are
 * milliseconds here and `500ms`, `30s`, `15m`, `12h` or `30d` in the file; sizes are bytes here and `64MiB`, `2GiB` there.
 */

const durationUnits = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const
const sizeUnits = { B: 1, KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30, TiB: 2 ** 40 } as const

const amount = (units: Record<string, number>, example: string) =>
  z.union([z.string(), z.number()]).transform((said, context) => {
    const [, count, unit] = /^(\d+(?:\.\d+)?)\s*([A-Za-z]+)$/.exec(String(said)) ?? []
    const factor = unit === undefined ? undefined : units[unit]
    const value = factor === undefined ? 0 : Math.round(Number(count) * factor)
    if (value > 0 && Number.isSafeInteger(value)) return value
    context.addIssue({ code: 'custom', message: `must be an amount such as ${example}` })
    return z.NEVER
  })

const duration = (value: string) => amount(durationUnits, '30s, 15m or 30d').prefault(value)
const size = (value: string) => amount(sizeUnits, '512MiB or 2GiB').prefault(value)
const count = (value: number, min = 1) => z.int().min(min).default(value)
const bucket = (requests: number) => z.strictObject({ requests: count(requests), per: duration('1m') }).prefault({})

/** Of all kinds of sandboxes that are kept ready. */
const mostWarm = 50
const inAll = (counts: readonly number[]) => counts.reduce((sum, one) => sum + one, 0)

export const Limits = z.strictObject({
  sandboxes: z
    .strictObject({
      /** STARTING and RUNNING sandboxes of one user; one more pauses an older one. */
      per_user: count(10),
      conversations_per_sandbox: count(20),
      /** Kept ready before anybody starts one; they belong to nobody and count for nobody. Of the usual image, and of others. */
      warm: count(1, 0),
      warm_images: z.record(z.string(), z.int().min(0)).default({}),
      /** Without a run, a running process of the user's or a viewer for so long: paused. `never`: stays. */
      idle_pause: z.union([z.literal('never'), duration('20m')]).default(1_200_000),
      /** Paused for so long: deleted with its files. */
      delete_after: z.union([z.literal('never'), duration('30d')]).default('never'),
      /** Running for so long without a pause: paused even at work. `never`: no such cap. */
      run_at_most: z.union([z.literal('never'), duration('12h')]).default('never'),
    })
    .refine(({ warm, warm_images }) => inAll([warm, ...Object.values(warm_images)]) <= mostWarm, {
      path: ['warm'],
      message: `must be at most ${mostWarm} together with warm_images`,
    })
    .prefault({}),
  /** What sandboxes reach: unless the user or a conversation says otherwise, at most, and beside what is known. */
  egress: z
    .strictObject({
      policy: EgressPolicy.default('allowlist'),
      most: EgressPolicy.default('open'),
      hosts: z.array(HostPattern).max(1000).default([]),
    })
    .prefault({}),
  /** The address of a port in a sandbox is good for at least so long. */
  ports: z.strictObject({ address: duration('12h') }).prefault({}),
  /** Of each sandbox. `cpu` is a share of a core: 1.5 is one and a half. */
  sandbox: z
    .strictObject({
      memory: size('2GiB'),
      processes: count(512, 16),
      cpu: z.number().positive().max(1024).default(2),
      disk: size('10GiB'),
    })
    .prefault({}),
  /** What is kept outside the sandbox of each conversation's working directory. */
  checkpoints: z
    .strictObject({
      /** Of all files and what commits changed, before compression; and of one file, larger ones are left out. */
      size: size('512MiB'),
      file: size('32MiB'),
      /** During a run; one is made at its end in any case. */
      every: duration('5m'),
      /** How long making one may take. */
      deadline: duration('60s'),
    })
    .prefault({}),
  /** How long a start may take: in all, and in each of its steps. */
  start: z
    .strictObject({
      deadline: duration('15m'),
      steps: z
        .strictObject({
          WORKING: duration('10s'),
          WAITING_FOR_SANDBOX: duration('120s'),
          PREPARING_REPOSITORY: duration('300s'),
          RUNNING_SETUP_SCRIPT: duration('600s'),
          SETTING_UP_GIT_HOOKS: duration('30s'),
          SETTING_UP_SKILLS: duration('30s'),
          STARTING_CONVERSATION: duration('30s'),
          /** Removing what a failed start made. */
          ERROR: duration('60s'),
        })
        .prefault({}),
    })
    .prefault({}),
  /** How many items a page has when the request does not say. */
  pages: z.strictObject({ default: z.int().min(1).max(100).default(20) }).prefault({}),
  /** Requests of one key, counted apart so that polling never starves a pause. */
  rates: z.strictObject({ read: bucket(600), write: bucket(120), start: bucket(20), control: bucket(60) }).prefault({}),
})
export type Limits = z.infer<typeof Limits>

/** Limits that cannot be read: one line for the operator that names the file and the field. */
export class LimitsError extends Error {
  override name = 'LimitsError'
}

export const defaultLimits = (): Limits => Limits.parse({})

/** Reads a limits file and fills in what it leaves out. Throws `LimitsError`. */
export function readLimits(path: string): Limits {
  let said: unknown
  try {
    said = parse(readFileSync(path, 'utf8')) ?? {}
  } catch (error) {
    const why = error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error)
    throw new LimitsError(`the file ${path} cannot be read: ${why}`, { cause: error })
  }
  const read = Limits.safeParse(said)
  if (read.success) return read.data
  const issue = read.error.issues[0]
  throw new LimitsError(`the file ${path}: ${issue?.path.join('.') || 'the document'}: ${issue?.message}`)
}

/** The limits as a limits file would say them, with units. What is printed can be read again. */
export const showLimits = (limits: Limits): string => stringify(saidIn(limits))

/** Each limit by the path of its name: `sandboxes.per_user`. */
export function namedLimits(limits: Limits): Map<string, string> {
  const names = (said: unknown, path: string): [string, string][] =>
    typeof said === 'object' && said !== null
      ? Object.entries(said).flatMap(([name, inner]) => names(inner, path === '' ? name : `${path}.${name}`))
      : [[path, String(said)]]
  return new Map(names(saidIn(limits), ''))
}

function saidIn(said: unknown, name = ''): unknown {
  if (plainNumbers.has(name) || said === null || Array.isArray(said)) return said
  if (typeof said === 'object')
    return Object.fromEntries(Object.entries(said).map(([inner, value]) => [inner, saidIn(value, inner)]))
  return typeof said === 'number' ? inUnits(said, sizes.has(name) ? sizeUnits : durationUnits) : said
}

const plainNumbers = new Set([
  'per_user',
  'conversations_per_sandbox',
  'warm',
  'warm_images',
  'processes',
  'cpu',
  'requests',
  'default',
])
const sizes = new Set(['memory', 'disk', 'size', 'file'])

/** In the largest unit that keeps it whole. */
function inUnits(value: number, units: Record<string, number>): string {
  const [unit, factor] = Object.entries(units).findLast(([, size]) => value % size === 0) ?? ['', 1]
  return `${value / factor}${unit}`
}
