import { createAmazonBedrock } from '@ai-sdk/amazon-bedrock'
import type { LanguageModelV4 } from '@ai-sdk/provider'
import { roleCredentials } from './aws-role.ts'
import { apiKey, type LlmConfig } from './config.ts'
import type { Dialect, Family } from './family.ts'
import { ModelError } from './model.ts'
import { reasoningOf } from './reasoning.ts'

/*
 * Bedrock. Requests are signed with the credentials of the configuration and with nothing else: no variable, file or role of
 * this machine is ever used, so everything that the library would look up there is given to it.
 */

const dialect: Dialect = {
  list: null,
  system: 'leading',
  joins: () => false,
  elements: () => 1,
  marker: { amazonBedrock: { cachePoint: { type: 'default' } } },
  toolImages: 'inside',
  reasoning({ signature, redacted }) {
    if (redacted !== undefined) return { amazonBedrock: { redactedContent: redacted } }
    if (signature === undefined || signature.startsWith('{')) return null
    return { amazonBedrock: { signature } }
  },
}

export const bedrock: Family = {
  dialect,
  open(model, config, fetch, beside) {
    const region = required(config, 'cloud_region_name')
    const common = { region, fetch, baseURL: config.cloud_runtime_endpoint || endpoint(region) }
    const key = apiKey(config)
    if (key !== null) return createAmazonBedrock({ ...common, apiKey: key }).languageModel(model)
    const credentials = {
      accessKeyId: required(config, 'cloud_access_key_id'),
      secretAccessKey: required(config, 'cloud_secret_access_key'),
      ...(config.cloud_session_token ? { sessionToken: config.cloud_session_token } : {}),
    }
    // An empty key stops the library from taking one of the environment.
    const { cloud_role_name: role, cloud_session_name: session } = config
    const credentialProvider = role
      ? roleCredentials({ role, session: session || 'parley', region, own: credentials }, beside.fetch, beside.clock)
      : async () => credentials
    const provider = createAmazonBedrock({ ...common, apiKey: '', credentialProvider })
    return onceReady(provider.languageModel(model), credentialProvider)
  },
  options: (_request, config) => reasoningOf(config),
}

/** Credentials that cannot be had are told in our words: the library would hide why. */
function onceReady(model: LanguageModelV4, ready: () => Promise<unknown>): LanguageModelV4 {
  const doStream: LanguageModelV4['doStream'] = async (options) => {
    await ready()
    return model.doStream(options)
  }
  return Object.assign(Object.create(model) as LanguageModelV4, { doStream })
}

const endpoint = (region: string) =>
  `https://bedrock-runtime.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}`

function required(
  config: LlmConfig,
  field: 'cloud_region_name' | 'cloud_access_key_id' | 'cloud_secret_access_key',
): string {
  const value = config[field]
  if (!value)
    throw new ModelError(field === 'cloud_region_name' ? 'config' : 'auth', `${field} is not set for ${config.model}.`)
  return value
}
