/** Words of the settings. */
export const settings = {
  'settings.model': 'Model',
  'settings.agent': 'Agent',
  'settings.git': 'Git hosts',
  'settings.secrets': 'Secrets',
  'settings.keys': 'API Keys',
} as const
