import type { LanguageModelV4, LanguageModelV4CallOptions } from '@ai-sdk/provider'
import type { Clock } from '@parley/store/clock'
import { masker } from '../mask.ts'
import { costOf, lookUp } from './catalogue.ts'
import { apiKey, given, type LlmConfig } from './config.ts'
import { demoModel } from './demo.ts'
import { classify } from './errors.ts'
import { withExtras } from './extras.ts'
import type { Provider } from './family.ts'
import { history, type History } from './history.ts'
import { ModelError, type Model, type ModelPart, type ModelRequest } from './model.ts'
import { toPrompt } from './prompt.ts'
import { providerOf } from './providers.ts'
import { modelParts } from './stream.ts'
import { defaultLimits, openCall, type Limits } from './transport.ts'

export interface ModelDeps {
  /** The only way to the network; who gives it decides which addresses may be reached. */
  fetch: typeof fetch
  clock: Clock
  limits?: Partial<Limits>
}

/**
 * The model of `config.model`. Never throws: what is wrong with the configuration is the error of every call. One model may
 * serve several conversations at once; `cacheKey` tells them apart.
 */
export function openModel(config: LlmConfig, deps: ModelDeps): Model {
  if (config.model === 'parley/demo') return demoModel(deps.clock)
  const found = providerOf(config)
  const [prefix, name] = canonical(config, found?.prefix ?? '', found?.name ?? config.model)
  const facts = lookUp(prefix, name)
  const vision = config.disable_vision === false || (facts.vision && config.disable_vision !== true)
  const past = found === null ? null : history(found.provider.family.dialect, config.caching_prompt !== false, vision)
  let own: Own | undefined
  return {
    name: config.model,
    contextWindow: config.max_input_tokens ?? facts.context_window,
    vision,
    cost: (usage) => costOf(usage, prefix, name, config),
    async *stream(request, signal) {
      if (found === null || past === null) throw new ModelError('config', unknownModel(config.model))
      own ??= ownOf(config, found, deps)
      check(own)
      yield* attempt(own, { request, signal, past, vision, deps })
    },
  }
}

/** Made at the first call and kept: making the library's model anew costs more than a call with it. */
function ownOf(config: LlmConfig, found: NonNullable<ReturnType<typeof providerOf>>, deps: ModelDeps): Own {
  const { provider, name, prefix } = found
  const whole = { ...config, base_url: address(config, provider, prefix) }
  const calls = new WeakMap<AbortSignal, typeof fetch>()
  /** Each call has a way of its own to the network; its signal, which the library hands on, tells which. */
  const way: typeof fetch = (url, init) => {
    const own = init?.signal ? calls.get(init.signal) : undefined
    if (own === undefined) throw new Error('a request that belongs to no call')
    return own(url, init)
  }
  let language: LanguageModelV4 | undefined
  return {
    provider,
    name,
    config: whole,
    calls,
    hide: masker(secretsOf(config)).text,
    language: () => (language ??= provider.family.open(name, whole, way, deps)),
  }
}

interface Own {
  provider: Provider
  name: string
  config: LlmConfig
  calls: WeakMap<AbortSignal, typeof fetch>
  hide: (text: string) => string
  language: () => LanguageModelV4
}

interface Attempt {
  request: ModelRequest
  signal: AbortSignal
  past: History
  vision: boolean
  deps: ModelDeps
}

async function* attempt(own: Own, { request, signal, past, vision, deps }: Attempt): AsyncGenerator<ModelPart> {
  signal.throwIfAborted()
  const { config, provider } = own
  const limits = {
    ...defaultLimits,
    ...given({ thinkMs: config.timeout ? config.timeout * 1000 : null }),
    ...deps.limits,
  }
  const plan = past.plan(request.cacheKey, request.messages)
  const body = (json: string) =>
    plan.splice(withExtras(json, config.proxy_extra_body ?? {}, provider.family.dialect.list))
  using call = openCall({ fetch: deps.fetch, clock: deps.clock, limits, signal, body })
  try {
    const dialect = provider.family.dialect
    const flat = config.force_string_serializer === true
    const longest = config.max_message_chars ?? Number.POSITIVE_INFINITY
    const prompt = toPrompt(request.messages, plan.from, { dialect, vision, flat, longest, marked: plan.marked })
    own.calls.set(call.signal, call.fetch)
    const { stream } = await own.language().doStream({ ...optionsOf(own, request), prompt, abortSignal: call.signal })
    yield* modelParts(stream, { writing: call.writing, strict: config.drop_params === false })
  } catch (error) {
    if (signal.aborted) throw signal.reason
    throw classify(call.failure() ?? error, own.hide, deps.clock.millis())
  }
}

function optionsOf({ provider, config, name }: Own, request: ModelRequest): Omit<LanguageModelV4CallOptions, 'prompt'> {
  const { headers, ...family } = provider.family.options(request, config, name)
  const tools = request.tools.map((tool) => ({
    type: 'function' as const,
    name: tool.name,
    description: tool.description,
    inputSchema: tool.schema,
  }))
  return {
    ...given({
      maxOutputTokens: request.maxOutputTokens ?? config.max_output_tokens,
      temperature: config.temperature,
      topP: config.top_p,
      seed: config.seed,
    }),
    ...(tools.length > 0 ? { tools, toolChoice: { type: request.toolChoice } } : {}),
    ...family,
    headers: { ...headers, ...config.extra_headers },
  }
}

function check({ provider, config }: Own) {
  if (!config.base_url) throw new ModelError('config', `${config.model} needs a base URL (llm_base_url).`)
  if (!URL.canParse(config.base_url)) throw new ModelError('config', `The base URL of ${config.model} is not a URL.`)
  if (provider.needsKey && apiKey(config) === null)
    throw new ModelError('auth', `No API key is set for ${config.model}. Set one in the settings.`)
}

/** The address with the version at its end, where the wire has one. */
function address(config: LlmConfig, provider: Provider, prefix: string): string | null {
  const given = config.base_url || config.local_model_base_url || provider.baseUrl
  const bare = given?.replace(/\/+$/, '') ?? null
  if (prefix !== 'anthropic' || bare === null) return bare
  return /\/v\d+$/.test(bare) ? bare : `${bare}/v1`
}

/** An alias is priced and judged as the model it stands for. */
function canonical({ model_canonical_name: stands }: LlmConfig, prefix: string, name: string): [string, string] {
  if (!stands) return [prefix, name]
  const slash = stands.indexOf('/')
  return slash === -1 ? [prefix, stands] : [stands.slice(0, slash), stands.slice(slash + 1)]
}

const unknownModel = (model: string) =>
  `${JSON.stringify(model)} names no known provider. Write it as provider/model, or set a base URL.`

function secretsOf(config: LlmConfig): { name: string; value: string }[] {
  const fields = ['api_key', 'cloud_secret_access_key', 'cloud_session_token', 'cloud_access_key_id'] as const
  const headers = Object.values(config.extra_headers ?? {}).map((value) => ({
    name: 'extra_headers',
    value: String(value),
  }))
  return [...fields.map((name) => ({ name, value: config[name] ?? '' })), ...headers]
}
