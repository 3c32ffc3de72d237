const AT_ONCE = 6

/** What `look` makes of each, in order; a few at a time, so that a forge is not asked everything at once. */
export async function eachOf<T, R>(items: readonly T[], look: (item: T) => Promise<R>): Promise<R[]> {
  const seen: R[] = []
  for (let start = 0; start < items.length; start += AT_ONCE) {
    seen.push(...(await Promise.all(items.slice(start, start + AT_ONCE).map(look))))
  }
  return seen
}
