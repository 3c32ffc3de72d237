import type { Driver } from './driver.ts'

export interface Opened {
  driver: Driver
  /** Whether memory, processes and processor time are limited for the sandbox as a whole. */
  limits: boolean
  /** Names what a removed sandbox left on the host; empty when nothing. */
  leftovers(id: string): Promise<string[]>
  close(): Promise<void>
}

/** Registers one test. */
export type Sentence = (text: string, work: (opened: Opened) => Promise<void>) => void
