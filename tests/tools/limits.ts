import { fileURLToPath } from 'node:url'

/** The environment of a server that a test may ask as often as it likes. */
export const oftenAsked = { PARLEY_LIMITS: fileURLToPath(new URL('limits.yaml', import.meta.url)) }
