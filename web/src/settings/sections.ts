/** The settings in the order in which they are shown. `owner`: only the owner of the server sees it. */
export const sections = [
  { id: 'model', label: 'settings.model', group: 'agent' },
  { id: 'agent', label: 'settings.agent', group: 'agent' },
  { id: 'advanced', label: 'settings.advanced', group: 'agent' },
  { id: 'sandbox', label: 'settings.sandbox', group: 'agent' },
  { id: 'mcp', label: 'settings.mcp', group: 'agent' },
  { id: 'git', label: 'settings.git', group: 'connections' },
  { id: 'secrets', label: 'settings.secrets', group: 'connections' },
  { id: 'keys', label: 'settings.keys', group: 'connections' },
  { id: 'webhooks', label: 'settings.webhooks', group: 'connections' },
  { id: 'profile', label: 'users.profile', group: 'you' },
  { id: 'app', label: 'settings.app', group: 'you' },
  { id: 'usage', label: 'settings.usage', group: 'you' },
  { id: 'people', label: 'settings.people', group: 'owner' },
  { id: 'server', label: 'settings.server', group: 'owner' },
] as const

export const groups = ['agent', 'connections', 'you', 'owner'] as const
export type Section = (typeof sections)[number]

/** What a person may see. */
export const sectionsFor = (role: 'owner' | 'member' | undefined): readonly Section[] =>
  sections.filter(({ group }) => group !== 'owner' || role === 'owner')
