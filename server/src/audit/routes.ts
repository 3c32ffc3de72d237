import { searchAudit, verifyAudit } from '@parley/contract/audit'
import { serve } from '@parley/wire/serve'
import type { Audit } from './service.ts'

export const auditRoutes = (audit: Audit) => [
  serve(searchAudit, ({ who, query }) => audit.search(who, query)),
  serve(verifyAudit, ({ who }) => audit.verify(who)),
]
