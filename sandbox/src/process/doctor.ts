import type { Driver, Finding } from '../driver.ts'
import type { Cgroups } from './cgroup.ts'

export async function doctor(driver: Driver, cgroups: Cgroups | undefined, signal: AbortSignal): Promise<Finding[]> {
  void driver
  void cgroups
  void signal
  return []
}
