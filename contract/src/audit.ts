import { z } from 'zod'
import { described } from './described.ts'
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
  .meta({ id: 'AuditAction', description: 'What was done.' })
export type AuditAction = z.infer<typeof AuditAction>

export const AuditEntry = z
  .object(
    described(
      {
        id: Id,
        at: Timestamp,
        user_id: Id.nullable().meta({
          description: 'Whose things were touched; null when nobody is known by what was said.',
        }),
        actor_kind: z.enum(['key', 'session', 'sandbox', 'operator', 'nobody']).meta({
          description: '`operator`: whoever has the command line of the server.',
        }),
        actor_id: z.string().meta({ description: 'Of the key, the session or the sandbox; else empty.' }),
        action: AuditAction,
        object: z.string().nullable().meta({ description: 'Id or name of what was touched.' }),
        outcome: z.string().meta({ description: '`ok`, or the code of the problem.' }),
        ip: z.string().meta({ description: 'Empty when there was no call.' }),
        user_agent: z.string().nullable(),
        request_id: z.string().meta({ description: 'Empty when there was no call.' }),
      },
      { user_agent: 'The program that called, as it says itself.' },
    ),
  )
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
  query: z.object({
    action__eq: AuditAction.optional().meta({ description: 'Only entries of this action.' }),
    ...pageQuery(100),
  }),
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

/** The first place of a chain that does not hold. */
export const AuditBreak = z
  .object(
    described(
      {
        user_id: Id.nullable().meta({ description: 'Whose chain it is; null: that of strangers.' }),
        number: z.int().min(1).meta({ description: 'Of the entry in its chain.' }),
        entry_id: Id.nullable().meta({ description: 'Null when the entry is missing.' }),
        what: z.enum(['changed', 'missing']),
      },
      { what: '`changed`: it is not what it was. `missing`: it, or what followed it, is gone.' },
    ),
  )
  .meta({ id: 'AuditBreak' })
export type AuditBreak = z.infer<typeof AuditBreak>

export const AuditVerdict = z
  .object(
    described(
      {
        ok: z.boolean(),
        entries: z.int().min(0).meta({ description: 'How many were looked at and hold.' }),
        chains: z.int().min(0),
        breaks: z.array(AuditBreak),
      },
      {
        ok: 'Whether every chain holds.',
        chains: 'How many were looked at.',
        breaks: 'The first place of each chain that does not hold.',
      },
    ),
  )
  .meta({ id: 'AuditVerdict' })
export type AuditVerdict = z.infer<typeof AuditVerdict>

export const verifyAudit = endpoint({
  method: 'GET',
  path: '/api/v1/audit/verify',
  summary: 'Verify the audit log',
  description:
    'Each entry is closed over the one before it, in one chain for each person. The owner of the server has all chains ' +
    'looked at, members their own.',
  access: 'keys:admin',
  returns: AuditVerdict,
  example: { returns: { ok: true, entries: 1_204, chains: 3, breaks: [] } },
})
