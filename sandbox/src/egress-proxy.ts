import type { Dial, Gate } from './egress.ts'
export type EgressLog = (line: string) => void
export function egressProxy(_: { gate: Gate; dial: Dial; log: EgressLog }) {
  return { listen: async (_id: string, _path: string) => async () => undefined, close: async () => undefined }
}
