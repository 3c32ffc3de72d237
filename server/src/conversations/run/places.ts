/** A bound on what may be under way at once in this process. */
export interface Places {
  /** Gives the function that leaves the place again; undefined when all are taken. */
  take(): (() => void) | undefined
}

export function places(most: number): Places {
  let free = most
  return {
    take() {
      if (free === 0) return undefined
      free -= 1
      let left = false
      return () => {
        if (!left) free += 1
        left = true
      }
    },
  }
}
