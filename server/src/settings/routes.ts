import { getSettings, testMcpServer, updateSettings } from '@parley/contract/settings'
import { unchanged } from '@parley/wire/precondition'
import { atOnce, serve } from '@parley/wire/serve'
import type { SettingsService } from './service.ts'

export const settingsRoutes = (settings: SettingsService) => [
  serve(getSettings, ({ who }) => settings.get(who.owner)),
  atOnce(
    serve(updateSettings, ({ who, body, request }) =>
      settings.update(who.owner, body, unchanged(request, getSettings)),
    ),
  ),
  serve(testMcpServer, ({ who, body, request }) => settings.tryMcp(who.owner, body, request.signal)),
]
