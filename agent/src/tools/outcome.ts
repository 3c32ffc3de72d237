/** Told of a call whose end nobody saw. */
export const outcomeUnknown = 'Whether it took effect is unknown; check before repeating it.'
