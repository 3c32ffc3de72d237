import {
  examineServer,
  getAlive,
  getHealth,
  getReady,
  getServerInfo,
  getWebClientConfig,
  listLimits,
} from '@parley/contract/health'
import { serve } from '@parley/wire/serve'
import type { Examination } from './examine.ts'
import type { Health } from './service.ts'

export const healthRoutes = (health: Health, examination: Examination) => [
  serve(getAlive, () => ({ status: 'ok' as const })),
  serve(getHealth, () => health.health()),
  serve(getReady, () => health.ready()),
  serve(getServerInfo, () => health.info()),
  serve(getWebClientConfig, () => health.webClient()),
  serve(examineServer, ({ who }) => examination.examine(who.owner)),
  serve(listLimits, () => examination.limits()),
]
