/** What `node:timers/promises` gives in Node, for the client in a browser. Rejects with the signal's reason. */
export function setTimeout<T>(
  ms: number,
  value?: T,
  { signal }: { signal?: AbortSignal } = {},
): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason)
    const stop = () => {
      globalThis.clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = globalThis.setTimeout(() => {
      signal?.removeEventListener('abort', stop)
      resolve(value)
    }, ms)
    signal?.addEventListener('abort', stop, { once: true })
  })
}
