export const settings = {
  'settings.model': 'Modell',
  'settings.agent': 'Agent',
  'settings.git': 'Git-Dienste',
  'settings.secrets': 'Geheimnisse',
  'settings.keys': 'API-Schlüssel',
} as const
