import type { Condenser } from './condenser.ts'

/** Keeps everything. A history that no longer fits ends the run with an error. */
export const noOpCondenser: Condenser = {
  kind: 'NoOpCondenser',
  due: () => null,
  condense: () => Promise.resolve(null),
}
