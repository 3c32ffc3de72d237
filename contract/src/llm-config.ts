import { z } from 'zod'
import { ExtraHeaders } from './text.ts'

/*
 * The model of an agent and how it is called, with the field names and types of the specification. Times are in seconds,
 * costs in US dollars. Addresses are plain texts here: whoever calls one goes through the guarded client.
 */

const text = z.string().max(4096).nullable().default(null)
const key = z.string().max(16_384).nullable().default(null)
const count = z.int().min(1).nullable().default(null)
const flag = (value: boolean) => z.boolean().default(value)

const access = {
  model: z.string().min(1).max(255),
  api_key: key,
  base_url: text,
  api_version: text,
  cloud_access_key_id: key,
  cloud_secret_access_key: key,
  cloud_session_token: key,
  cloud_region_name: text,
  cloud_profile_name: text,
  cloud_role_name: text,
  cloud_session_name: text,
  cloud_runtime_endpoint: text,
  router_site_url: text,
  router_app_name: text,
  model_canonical_name: text,
  local_model_base_url: text,
  custom_tokenizer: text,
  extra_headers: ExtraHeaders.nullable().default(null),
  proxy_extra_body: z.record(z.string().max(255), z.unknown()).default({}),
}

const retries = {
  num_retries: z.int().min(0).default(5),
  retry_multiplier: z.number().min(0).default(8),
  retry_min_wait: z.number().min(0).default(8),
  retry_max_wait: z.number().min(0).default(64),
  timeout: z.number().min(0).nullable().default(300),
}

const sampling = {
  temperature: z.number().min(0).nullable().default(null),
  top_p: z.number().min(0).max(1).nullable().default(null),
  top_k: z.number().min(0).nullable().default(null),
  seed: z.int().nullable().default(null),
  max_message_chars: z.int().min(1).default(30_000),
  max_input_tokens: count,
  max_output_tokens: count,
  input_cost_per_token: z.number().min(0).nullable().default(null),
  output_cost_per_token: z.number().min(0).nullable().default(null),
  stream: flag(false),
  drop_params: flag(true),
  modify_params: flag(true),
  safety_settings: z.array(z.record(z.string(), z.unknown())).max(50).nullable().default(null),
}

const features = {
  reasoning_effort: z.string().max(64).nullable().default('high'),
  reasoning_summary: z.string().max(64).nullable().default(null),
  enable_encrypted_reasoning: flag(true),
  prompt_cache_retention: z.string().max(64).nullable().default('24h'),
  extended_thinking_budget: z.int().min(0).nullable().default(200_000),
  disable_vision: z.boolean().nullable().default(null),
  disable_stop_word: flag(false),
  caching_prompt: flag(true),
  native_tool_calling: flag(true),
  force_string_serializer: z.boolean().nullable().default(null),
  log_completions: flag(false),
  log_completions_folder: z.string().max(4096).nullable().default('logs/completions'),
  usage_id: z.string().min(1).max(255).default('default'),
}

/** Other models to try, by name, when this one cannot be reached. */
export const FallbackStrategy = z
  .object({
    fallback_llms: z.array(z.string().min(1).max(255)).max(20).default([]),
    profile_store_dir: z.string().max(4096).nullable().default(null),
  })
  .meta({ id: 'FallbackStrategy' })
export type FallbackStrategy = z.infer<typeof FallbackStrategy>

export const LlmConfig = z
  .object({
    ...access,
    ...retries,
    ...sampling,
    ...features,
    fallback_strategy: FallbackStrategy.nullable().default(null),
  })
  .meta({ id: 'LlmConfig' })
export type LlmConfig = z.infer<typeof LlmConfig>
