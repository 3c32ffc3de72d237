/** The `llm` fields of an agent. A missing or null one takes the provider's or our default; docs/models.md says what each does. */
export interface LlmConfig {
  /** `provider/model`. */
  model: string
  api_key?: string | null
  base_url?: string | null
  api_version?: string | null
  local_model_base_url?: string | null
  model_canonical_name?: string | null

  temperature?: number | null
  top_p?: number | null
  top_k?: number | null
  seed?: number | null
  max_output_tokens?: number | null
  max_input_tokens?: number | null

  /** `none`, `minimal`, `low`, `medium`, `high`, `xhigh`, `max`. */
  reasoning_effort?: string | null
  /** `auto`, `concise`, `detailed`. */
  reasoning_summary?: string | null
  enable_encrypted_reasoning?: boolean | null
  /** Tokens. */
  extended_thinking_budget?: number | null

  caching_prompt?: boolean | null
  /** `in_memory`, `24h`. */
  prompt_cache_retention?: string | null

  extra_headers?: Record<string, string> | null
  proxy_extra_body?: Record<string, unknown> | null
  drop_params?: boolean | null
  disable_vision?: boolean | null
  force_string_serializer?: boolean | null
  /** Seconds the provider may stay silent before its first output, and while it thinks. */
  timeout?: number | null

  /** US dollars. */
  input_cost_per_token?: number | null
  output_cost_per_token?: number | null

  router_site_url?: string | null
  router_app_name?: string | null

  cloud_access_key_id?: string | null
  cloud_secret_access_key?: string | null
  cloud_session_token?: string | null
  cloud_region_name?: string | null
  cloud_profile_name?: string | null
  cloud_role_name?: string | null
  cloud_session_name?: string | null
  cloud_runtime_endpoint?: string | null
  safety_settings?: readonly Record<string, unknown>[] | null

  /** Which of the two interfaces of the family `openai` is spoken; by default `chat` with a `base_url`, `responses` without. */
  api_mode?: 'chat' | 'responses' | null
}

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
