interface Closing {
  readonly destroyed: boolean
  once(event: 'close', then: () => void): unknown
}

/** At once when it has closed already: a client may go at any moment, and `close` comes only once. */
export const whenClosed = (stream: Closing, then: () => void): void => {
  if (stream.destroyed) then()
  else stream.once('close', then)
}
