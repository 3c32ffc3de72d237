import { z } from 'zod'
import { endpoint } from './endpoint.ts'
import { exampleIds, exampleTime } from './examples.ts'
import { Id } from './id.ts'
import { page, pageQuery } from './page.ts'
import { Timestamp } from './time.ts'

/** What is written down: who did what to which thing, when, from where, and what came of it. Never a value. */
export const AuditAction = z
  .enum([
    'sign_in',
    'sign_in.sso',
    'sign_out',
    'owner.claim',
    'password.change',
    'invitation.create',
    'invitation.delete',
    'invitation.accept',
    'person.change',
    'person.remove',
    'session.end',
    'key.create',
    'key.delete',
    'key.rotate',
    'secret.create',
    'secret.update',
    'secret.delete',
    'secret.read',
    'settings.update',
    'forge.connect',
    'forge.disconnect',
    'forge.token_read',
    'sandbox.delete',
    'conversation.delete',
  ])
  .meta({ id: 'AuditAction' })
export type AuditAction = z.infer<typeof AuditAction>

export const AuditEntry = z
  .object({
    id: Id,
    at: Timestamp,
    user_id: Id.nullable().meta({
      description: 'Whose things were touched; null when nobody is known by what was said.',
    }),
    actor_kind: z.enum(['key', 'session', 'sandbox', 'nobody']),
    actor_id: z.string().meta({ description: 'Of the key, the session or the sandbox; empty for nobody.' }),
    action: AuditAction,
    object: z.string().nullable().meta({ description: 'Id or name of what was touched.' }),
    outcome: z
      .string()
      .meta({ description: '`ok`, the code of the problem, or `begun` when the end was not recorded.' }),
    ip: z.string(),
    user_agent: z.string().nullable(),
    request_id: z.string(),
  })
  .meta({ id: 'AuditEntry' })
export type AuditEntry = z.infer<typeof AuditEntry>

export const AuditPage = page(AuditEntry).meta({ id: 'AuditPage' })
export type AuditPage = z.infer<typeof AuditPage>

export const searchAudit = endpoint({
  method: 'GET',
  path: '/api/v1/audit',
  summary: 'Read the audit log',
  description: 'Newest first. The owner of the server sees all entries, members those about their own things.',
  access: 'keys:admin',
  query: z.object({ action__eq: AuditAction.optional(), ...pageQuery(100) }),
  returns: AuditPage,
  fails: ['malformed_page_id'],
  example: {
    returns: {
      items: [
        {
          id: '0199f3c2-7a10-7c3e-9a51-2f0d6b1c8e51',
          at: exampleTime,
          user_id: exampleIds.user,
          actor_kind: 'session' as const,
          actor_id: '0199f3c2-7a10-7c3e-9a51-2f0d6b1c8e50',
          action: 'key.create' as const,
          object: exampleIds.task,
          outcome: 'ok',
          ip: '192.0.2.7',
          user_agent: null,
          request_id: '3f6c2a1e-7a10-4c3e-9a51-2f0d6b1c8e44',
        },
      ],
      next_page_id: null,
    },
  },
})
