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

type Shape = Readonly<Record<string, z.ZodType>>
type Unset<S extends Shape> = {
  [K in keyof S]: z.ZodOptional<S[K] extends z.ZodDefault<infer Inner extends z.ZodType> ? Inner : S[K]>
}

/** The same members without their defaults: what is not said stays unsaid. */
const unset = <S extends Shape>(shape: S): Unset<S> =>
  Object.fromEntries(
    Object.entries(shape).map(([name, one]) => [
      name,
      (one instanceof z.ZodDefault ? (one.unwrap() as z.ZodType) : one).optional(),
    ]),
  ) as unknown as Unset<S>

/**
 * What Parley does not do, by the member that asks for it. It is refused with these words: a setting without an effect is
 * worse than none.
 */
const unsupportedLlm: readonly { field: keyof LlmConfig; asked: (value: unknown) => boolean; why: string }[] = [
  {
    field: 'fallback_strategy',
    asked: (strategy) => Boolean((strategy as FallbackStrategy | null | undefined)?.profile_store_dir),
    why: 'profile_store_dir names a folder of the server; profiles are in llm_profiles',
  },
  {
    field: 'usage_id',
    asked: (id) => typeof id === 'string' && id !== 'default',
    why: 'calls are counted by what they are for: default, condenser and others',
  },
  { field: 'cloud_profile_name', asked: Boolean, why: 'names a file of the server; set an access key instead' },
  { field: 'custom_tokenizer', asked: Boolean, why: 'tokens are counted by the provider; none are counted here' },
  { field: 'native_tool_calling', asked: (on) => on === false, why: 'every provider here calls tools natively' },
  {
    field: 'disable_stop_word',
    asked: (on) => on === true,
    why: 'no stop word is sent, for tools are called natively',
  },
  {
    field: 'enable_encrypted_reasoning',
    asked: (on) => on === false,
    why: 'nothing is stored at the provider, so reasoning can only come back encrypted',
  },
]

function refuseUnsupported(llm: object, ctx: z.RefinementCtx): void {
  for (const { field, asked, why } of unsupportedLlm) {
    const value: unknown = Object.entries(llm).find(([name]) => name === field)?.[1]
    if (asked(value)) ctx.addIssue({ code: 'custom', path: [field], message: `is not supported: ${why}` })
  }
}

const more = {
  api_mode: z.enum(['chat', 'responses']).nullable().optional().meta({
    description: 'Which interface of `openai` is spoken. Absent: `chat` with a `base_url`, `responses` without.',
  }),
}

const { model: _model, api_key: _key, base_url: _url, ...options } = LlmConfig.shape

/** How a model is called. Its name, key and address stand elsewhere; unset members are the provider's defaults. */
export const LlmOptions = z
  .strictObject({ ...unset(options), ...more })
  .superRefine(refuseUnsupported)
  .meta({ id: 'LlmOptions' })
export type LlmOptions = z.infer<typeof LlmOptions>

/** A whole other model, for when the first cannot be reached. */
export const LlmProfile = z
  .strictObject({ ...unset(LlmConfig.shape), ...more, model: LlmConfig.shape.model })
  .superRefine(refuseUnsupported)
  .meta({ id: 'LlmProfile' })
export type LlmProfile = z.infer<typeof LlmProfile>
