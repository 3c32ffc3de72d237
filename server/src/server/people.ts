import { finishSso } from '@parley/contract/users'
import { keysOf } from '../access/keys.ts'
import { lastingCalls } from '../access/lasting.ts'
import { keyRoutes } from '../access/routes.ts'
import { openServerSecret } from '../access/server-secret.ts'
import { accessService } from '../access/service.ts'
import { accessStore } from '../access/store.ts'
import { auditRoutes } from '../audit/routes.ts'
import { auditService } from '../audit/service.ts'
import { auditStore } from '../audit/store.ts'
import { invitationsOf } from '../users/invitations.ts'
import { openOidc } from '../users/oidc.ts'
import { peopleOf } from '../users/people.ts'
import { userRoutes } from '../users/routes.ts'
import { userService } from '../users/service.ts'
import { ssoCookies } from '../users/sso-cookie.ts'
import { ssoService } from '../users/sso.ts'
import { userStore } from '../users/store.ts'
import { openTries } from '../users/tries.ts'
import type { Foundation } from './foundation.ts'

/** Tells every replica that a key or a session has become void. */
const accessTopic = 'access'

export type People = Awaited<ReturnType<typeof openPeople>>

/** Who may come in, by which key, session or sign-in, and what is noted of what they do. */
export async function openPeople({ config, database, wake, seal, clock, cursor, baseUrl, said }: Foundation) {
  const accessRows = accessStore(database)
  const pepper = await openServerSecret(accessRows, seal, 'pepper')
  const access = accessService({ store: accessRows, pepper, clock, revoked: () => wake.tell(accessTopic) })
  const lasting = lastingCalls({ store: accessRows, log: said })
  wake.on(accessTopic, () => {
    access.forget()
    lasting.check()
  })
  const store = userStore(database)
  const users = userService({ store, access, tries: openTries(database, clock), clock })
  const auditRows = auditStore(database, await openServerSecret(accessRows, seal, 'audit'))
  const audit = auditService({ store: auditRows, database, clock, cursor, isOwner: users.isOwner, log: said })
  const sso = ssoService({
    store,
    users,
    audit,
    clock,
    cookies: ssoCookies({ secret: pepper, baseUrl }),
    baseUrl,
    oidc: config.oidc && openOidc(config.oidc, `${baseUrl}${finishSso.path}`),
    allowedDomains: config.oidc?.allowedDomains ?? [],
    log: said,
  })
  const invitations = invitationsOf({ store, users, clock, baseUrl })
  const routes = () => [
    ...keyRoutes(keysOf(access, clock)),
    ...auditRoutes(audit),
    ...userRoutes({ users, people: peopleOf({ store, users, access }), sessions: access, invitations, sso, baseUrl }),
  ]
  return { access, lasting, users, audit, pepper, routes }
}
