/** Where a live channel goes on: what the client has seen last wins over where it once began. */
export function startAfter(afterSeq: number | undefined, lastEventId: string | undefined): number | undefined {
  return lastEventId !== undefined && /^\d{1,15}$/.test(lastEventId) ? Number(lastEventId) : afterSeq
}
