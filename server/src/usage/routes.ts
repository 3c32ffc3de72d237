import { getUsage } from '@parley/contract/usage'
import { serve } from '@parley/wire/serve'
import type { Usage } from './service.ts'

export const usageRoutes = (usage: Usage) => [serve(getUsage, ({ who, query }) => usage.report(who.owner, query))]
