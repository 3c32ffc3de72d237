import { z } from 'zod'
import { described } from './described.ts'
import { ExtraHeaders } from './text.ts'

/*
 * The model of an agent and how it is called, with the field names and types of the specification. Times are in seconds,
 * costs in US dollars. Addresses are plain texts here: whoever calls one goes through the guarded client.
 */

const text = z.string().max(4096).nullable().default(null)
const key = z.string().max(16_384).nullable().default(null)
const count = z.int().min(1).nullable().default(null)
const flag = (value: boolean) => z.boolean().default(value)

const access = described(
  {
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
  },
  {
    model: '`provider/model`.',
    api_key: 'Key of the provider; empty or asterisks: none. Answered as asterisks.',
    base_url: 'Address of the service in the place of the provider’s own.',
    api_version: 'Of `azure`; for other OpenAI-compatible addresses it goes into the query as `api-version`.',
    cloud_access_key_id: 'Of `bedrock`: credentials. Answered as asterisks.',
    cloud_secret_access_key: 'Of `bedrock`: credentials. Answered as asterisks.',
    cloud_session_token: 'Of `bedrock`: credentials that end. Answered as asterisks.',
    cloud_region_name: 'Of `bedrock`: the region that is called.',
    cloud_profile_name: 'Without effect, and refused in settings: it names a file of the server; set an access key.',
    cloud_role_name: 'Of `bedrock`: the role (ARN) that is taken with these credentials.',
    cloud_session_name: 'Of `bedrock`: what the session of that role is called.',
    cloud_runtime_endpoint: 'Of `bedrock`: an address in the place of the region’s.',
    router_site_url: 'Header `HTTP-Referer` of OpenAI-compatible requests.',
    router_app_name: 'Header `X-Title` of OpenAI-compatible requests.',
    model_canonical_name: 'The known model that an alias stands for: its price, context window and vision count.',
    local_model_base_url: 'The same as `base_url`, where that is not set: for `ollama` and `lm_studio`.',
    custom_tokenizer: 'Without effect, and refused in settings: tokens are counted by the provider.',
    extra_headers: 'Added to each request. Values are answered as asterisks.',
    proxy_extra_body:
      'Members added to each request body, but for model, messages, tools and stream; not for `gemini` and `bedrock`.',
  },
)

const retries = described(
  {
    num_retries: z.int().min(0).default(5),
    retry_multiplier: z.number().min(0).default(8),
    retry_min_wait: z.number().min(0).default(8),
    retry_max_wait: z.number().min(0).default(64),
    timeout: z.number().min(0).nullable().default(300),
  },
  {
    num_retries: 'Attempts in all before a call has failed.',
    retry_multiplier: 'Grows the wait from attempt to attempt.',
    retry_min_wait: 'Seconds between two attempts at least.',
    retry_max_wait: 'Seconds between two attempts at most.',
    timeout:
      'Seconds of silence that end an attempt, before the first output and while the model thinks; null: the usual patience.',
  },
)

const sampling = described(
  {
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
  },
  {
    temperature: 'Sent where the model takes it; null: the provider’s default.',
    top_p: 'Sent where the model takes it; null: the provider’s default.',
    top_k: 'For OpenAI-compatible servers, `anthropic` and `gemini`; null: the provider’s default.',
    seed: 'Sent where the model takes it, for answers that can be had again.',
    max_message_chars: 'Characters of one message or result; the middle of a longer one is left out in what is sent.',
    max_input_tokens: 'The context window that the agent reckons with; null: what is known of the model.',
    max_output_tokens: 'Tokens of one answer at most; null: the provider’s default.',
    input_cost_per_token: 'US dollars; goes before the price table.',
    output_cost_per_token: 'US dollars; goes before the price table.',
    stream: 'False: pieces of an answer are not shown while it is written. The provider is always asked to stream.',
    drop_params: 'False: a setting that the provider does not know is an error, not dropped.',
    modify_params: 'Without effect.',
    safety_settings: 'Of `gemini`: handed on as it is.',
  },
)

const features = described(
  {
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
  },
  {
    reasoning_effort:
      '`none`, `minimal`, `low`, `medium`, `high`, `xhigh` or `max`, turned into what the model has; null or empty: the provider’s default.',
    reasoning_summary: 'Of `openai` with the responses interface: how its reasoning is summed up.',
    enable_encrypted_reasoning: 'Always on; settings refuse false.',
    prompt_cache_retention: 'Of `openai`: how long it keeps the beginning of a prompt.',
    extended_thinking_budget: 'Of `anthropic` and `gemini`: tokens for thinking, kept below the output limit.',
    disable_vision: 'True: images are replaced by a note. False: they are sent although the model is not known to see.',
    disable_stop_word: 'Always off; settings refuse true.',
    caching_prompt: 'False: the provider is not asked to cache the prompt.',
    native_tool_calling: 'Always on; settings refuse false.',
    force_string_serializer: 'True: the text parts of a message are sent as one string.',
    log_completions: 'True: each call of the agent and its answer is a `LLMCompletionLogEvent`, with secrets masked.',
    log_completions_folder: 'The folder that the names of those logs begin with.',
    usage_id: 'Without effect: calls are counted by what they are for.',
  },
)

/** Other models to try, by name, when this one cannot be reached. */
export const FallbackStrategy = z
  .object(
    described(
      {
        fallback_llms: z.array(z.string().min(1).max(255)).max(20).default([]),
        profile_store_dir: z.string().max(4096).nullable().default(null),
      },
      {
        fallback_llms:
          'Names in `llm_profiles`, in the order in which they are asked when this model cannot be reached.',
        profile_store_dir: 'Without effect, and refused in settings: it names a folder of the server.',
      },
    ),
  )
  .meta({ id: 'FallbackStrategy' })
export type FallbackStrategy = z.infer<typeof FallbackStrategy>

export const LlmConfig = z
  .object(
    described(
      {
        ...access,
        ...retries,
        ...sampling,
        ...features,
        fallback_strategy: FallbackStrategy.nullable().default(null),
      },
      { fallback_strategy: 'Which models take over when this one cannot be reached; null: none.' },
    ),
  )
  .meta({ id: 'LlmConfig' })
export type LlmConfig = z.infer<typeof LlmConfig>

type Shape = Readonly<Record<string, z.ZodType>>
type Unset<S extends Shape> = {
  [K in keyof S]: z.ZodOptional<S[K] extends z.ZodDefault<infer Inner extends z.ZodType> ? Inner : S[K]>
}

const withWordsOf = (one: z.ZodType, next: z.ZodType): z.ZodType =>
  one.description === undefined ? next : next.meta({ description: one.description })

/** The same members without their defaults: what is not said stays unsaid. */
const unset = <S extends Shape>(shape: S): Unset<S> =>
  Object.fromEntries(
    Object.entries(shape).map(([name, one]) => [
      name,
      withWordsOf(one, (one instanceof z.ZodDefault ? (one.unwrap() as z.ZodType) : one).optional()),
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
