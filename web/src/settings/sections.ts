/** The groups of settings, in the order in which they are shown. */
export const sections = [
  { id: 'model', label: 'Model' },
  { id: 'agent', label: 'Agent' },
  { id: 'git', label: 'Git hosts' },
  { id: 'secrets', label: 'Secrets' },
  { id: 'keys', label: 'API Keys' },
  { id: 'profile', label: 'Profile' },
] as const
