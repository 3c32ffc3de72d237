import type { LlmProfile } from '@parley/contract/llm-config'

/** The `llm` fields of an agent. A missing or null one takes the provider's or our default; docs/models.md says what each does. */
export type LlmConfig = LlmProfile

/** An empty key or one of asterisks only is none. */
export function apiKey({ api_key }: LlmConfig): string | null {
  const key = api_key?.trim() ?? ''
  return key === '' || /^\*+$/.test(key) ? null : key
}

/** Leaves out what is null or undefined, so that it is not sent. */
export function given<T extends Record<string, unknown>>(fields: T): { [K in keyof T]?: NonNullable<T[K]> } {
  const pairs = Object.entries(fields).filter(([, value]) => value !== null && value !== undefined)
  return Object.fromEntries(pairs) as { [K in keyof T]?: NonNullable<T[K]> }
}
