import type { Kept } from '@parley/sandbox/spares'
import type { Config } from '../config.ts'
import type { Limits } from '../limits.ts'

/** The usual spec of a driver; its id is what the record shows. */
export const builtInSpec = { id: 'parley/workspace' }

/** Where the first conversation of a sandbox works. */
export const projectIn = (workspace: string): string => `${workspace}/project`

/** The ids of all: the usual one, and one for each further image that may be asked for, which is its id. */
export const specIds = ({ sandbox, sandboxImages }: Pick<Config, 'sandbox' | 'sandboxImages'>): string[] =>
  sandbox === 'process' ? [builtInSpec.id] : [builtInSpec.id, ...sandboxImages.slice(1)]

/** The image of a sandbox; null: the usual one. */
export const imageOf = (specId: string): string | null => (specId === builtInSpec.id ? null : specId)

/** What is kept ready, image by image; null: the usual one. */
export const keptReady = ({ sandboxes: { warm, warm_images }, sandbox }: Limits): Kept[] =>
  [[null, warm] as const, ...Object.entries(warm_images)].map(([image, most]) => ({
    image,
    most,
    limits: sandbox,
  }))
