import { getAlive, getHealth, getReady, getServerInfo, getWebClientConfig } from '@parley/contract/health'
import { serve } from '@parley/wire/serve'
import type { Health } from './service.ts'

export const healthRoutes = (health: Health) => [
  serve(getAlive, () => ({ status: 'ok' as const })),
  serve(getHealth, () => health.health()),
  serve(getReady, () => health.ready()),
  serve(getServerInfo, () => health.info()),
  serve(getWebClientConfig, () => health.webClient()),
]
