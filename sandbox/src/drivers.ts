import type { Driver } from './driver.ts'
import { processDriver } from './process/driver.ts'

/** Every kind of sandbox, by the name that the configuration uses. */
export const drivers = { process: processDriver } satisfies Partial<Record<Driver['kind'], unknown>>
