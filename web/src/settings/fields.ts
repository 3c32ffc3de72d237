import { groupingStrategies, type SettingsUpdate } from '@parley/contract/settings'
import type { Key } from '../i18n/message.ts'

/*
 * Which field of the settings is shown where and how, as a table: a field without a row is a failing test. What is typed
 * into a field is sent as it stands; empty is null, but for keys, where empty means as it was.
 */

export type Control =
  | { kind: 'text' | 'email' | 'lines' | 'switch' }
  /** Written, never read: `set` says whether one is stored. */
  | { kind: 'secret'; set: 'search_api_key_set' | 'sandbox_api_key_set' }
  | { kind: 'number'; min: number; max?: number; step?: 'any' }
  | { kind: 'choice'; choices: readonly Choice[] }

export interface Choice {
  value: string
  label: Words
}
type Words = Extract<Key, `field.${string}` | `grouping.${string}`>

type Field = Exclude<keyof SettingsUpdate, 'secrets_store'>
export type FormField = keyof typeof controls
type Title = Extract<Key, `settings.${string}`>
export interface Group {
  title: Exclude<Title, 'settings.model.none'>
  about?: Exclude<Title, 'settings.model.none'>
  fields: readonly FormField[]
}

/** What has a screen of its own. */
export const elsewhere = {
  llm_model: 'model',
  llm_api_key: 'model',
  llm_base_url: 'model',
  mcp_config: 'mcp',
  language: 'profile',
  agent_settings: 'advanced',
} as const satisfies Partial<Record<Field, string>>

export const controls = {
  agent: { kind: 'text' },
  max_iterations: { kind: 'number', min: 1, max: 100_000 },
  max_budget_per_task: { kind: 'number', min: 0, step: 'any' },
  confirmation_mode: { kind: 'switch' },
  security_analyzer: {
    kind: 'choice',
    choices: [
      { value: '', label: 'field.security_analyzer.none' },
      { value: 'llm', label: 'field.security_analyzer.llm' },
      { value: 'pattern', label: 'field.security_analyzer.pattern' },
    ],
  },
  enable_default_condenser: { kind: 'switch' },
  condenser_max_size: { kind: 'number', min: 20, max: 100_000 },
  disabled_skills: { kind: 'lines' },
  search_api_key: { kind: 'secret', set: 'search_api_key_set' },
  sandbox_grouping_strategy: {
    kind: 'choice',
    choices: groupingStrategies.map((value) => ({ value, label: `grouping.${value}` as const })),
  },
  setup_script_required: { kind: 'switch' },
  remote_runtime_resource_factor: { kind: 'number', min: 1, max: 16 },
  sandbox_base_container_image: { kind: 'text' },
  sandbox_runtime_container_image: { kind: 'text' },
  sandbox_api_key: { kind: 'secret', set: 'sandbox_api_key_set' },
  egress_policy: {
    kind: 'choice',
    choices: [
      { value: '', label: 'field.egress_policy.server' },
      { value: 'none', label: 'field.egress_policy.none' },
      { value: 'allowlist', label: 'field.egress_policy.allowlist' },
      { value: 'open', label: 'field.egress_policy.open' },
    ],
  },
  egress_hosts: { kind: 'lines' },
  git_user_name: { kind: 'text' },
  git_user_email: { kind: 'email' },
  enable_sound_notifications: { kind: 'switch' },
  enable_proactive_conversation_starters: { kind: 'switch' },
  enable_solvability_analysis: { kind: 'switch' },
  user_consents_to_analytics: { kind: 'switch' },
  email: { kind: 'email' },
  email_verified: { kind: 'switch' },
  v1_enabled: { kind: 'switch' },
  user_version: { kind: 'number', min: 0 },
} as const satisfies Record<Exclude<Field, keyof typeof elsewhere>, Control>

export const forms = {
  agent: [
    {
      title: 'settings.confirmation',
      about: 'settings.confirmation.about',
      fields: ['confirmation_mode', 'security_analyzer'],
    },
    { title: 'settings.bounds', fields: ['max_budget_per_task', 'max_iterations'] },
    { title: 'settings.memory', fields: ['enable_default_condenser', 'condenser_max_size'] },
    { title: 'settings.tools', fields: ['search_api_key', 'disabled_skills', 'agent'] },
  ],
  sandbox: [
    { title: 'settings.sandbox.use', fields: ['sandbox_grouping_strategy', 'setup_script_required'] },
    { title: 'settings.egress', about: 'settings.egress.about', fields: ['egress_policy', 'egress_hosts'] },
    {
      title: 'settings.sandbox.make',
      about: 'settings.sandbox.make.about',
      fields: [
        'remote_runtime_resource_factor',
        'sandbox_base_container_image',
        'sandbox_runtime_container_image',
        'sandbox_api_key',
      ],
    },
  ],
  author: [{ title: 'settings.author', about: 'settings.author.about', fields: ['git_user_name', 'git_user_email'] }],
  app: [
    {
      title: 'settings.notifications',
      about: 'settings.notifications.about',
      fields: ['enable_sound_notifications'],
    },
    {
      title: 'settings.suggestions',
      fields: ['enable_proactive_conversation_starters', 'enable_solvability_analysis'],
    },
    {
      title: 'settings.contact',
      about: 'settings.contact.about',
      fields: ['email', 'email_verified', 'user_consents_to_analytics'],
    },
    { title: 'settings.clients', about: 'settings.clients.about', fields: ['v1_enabled', 'user_version'] },
  ],
} as const satisfies Record<string, readonly Group[]>
