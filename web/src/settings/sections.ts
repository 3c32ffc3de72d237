/** The groups of settings, in the order in which they are shown. */
export const sections = [
  { id: 'model', label: 'settings.model' },
  { id: 'agent', label: 'settings.agent' },
  { id: 'git', label: 'settings.git' },
  { id: 'secrets', label: 'settings.secrets' },
  { id: 'keys', label: 'settings.keys' },
  { id: 'profile', label: 'users.profile' },
] as const
