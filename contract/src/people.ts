import { z } from 'zod'
import { described, done } from './described.ts'
import { endpoint } from './endpoint.ts'
import { exampleIds, exampleTime } from './examples.ts'
import { Id, IdInput } from './id.ts'
import { line } from './text.ts'
import { Timestamp, TimestampInput } from './time.ts'
import { Email, exampleUser, OneTimeToken, Password, SignedIn, User, UserRole } from './users.ts'

/* Who else is on this server: what its owner sees and decides, and how others come. */

/** A person as the owner of the server sees them. */
export const Person = z
  .object({
    ...User.shape,
    last_seen_at: Timestamp.nullable().meta({ description: 'With the page or a key; null: never.' }),
  })
  .meta({ id: 'Person' })
export type Person = z.infer<typeof Person>

const examplePerson = { ...exampleUser, last_seen_at: exampleTime }
const ownersOnly = ['not_found', 'malformed_id', 'insufficient_scope', 'state_conflict'] as const

export const listPeople = endpoint({
  method: 'GET',
  path: '/api/v1/users',
  summary: 'List people',
  description: 'For the owner of the server: everybody who has an account, and when they last used the page or a key.',
  access: 'keys:admin',
  returns: z.array(Person),
  fails: ['insufficient_scope'],
  example: { returns: [examplePerson] },
})

export const changePerson = endpoint({
  method: 'PATCH',
  path: '/api/v1/users/{id}',
  summary: 'Change the role of a person',
  description: 'For the owner of the server. There is one owner: who makes another person that becomes a member.',
  access: 'keys:admin',
  params: z.object({ id: IdInput }),
  body: z.object({ role: UserRole }),
  returns: User,
  fails: ownersOnly,
  example: { body: { role: 'owner' }, returns: exampleUser },
})

export const removePerson = endpoint({
  method: 'DELETE',
  path: '/api/v1/users/{id}',
  summary: 'Remove a person',
  description:
    'For the owner of the server. Their keys and sessions are void at once; their conversations, sandboxes, settings and ' +
    'secrets go for good. The owner cannot be removed.',
  access: 'keys:admin',
  params: z.object({ id: IdInput }),
  returns: z.object({ success: done }),
  fails: ownersOnly,
  example: { returns: { success: true } },
})

/** An invitation as it is listed. The link is shown once, when it is made. */
export const Invitation = z
  .object(
    described(
      {
        id: Id,
        email: z.string(),
        created_at: Timestamp,
        expires_at: Timestamp,
        accepted_at: Timestamp.nullable(),
      },
      { email: 'Who is invited.', accepted_at: 'Null: not yet.' },
    ),
  )
  .meta({ id: 'Invitation' })
export type Invitation = z.infer<typeof Invitation>

export const NewInvitation = z
  .object({ ...Invitation.shape, link: z.string().meta({ description: 'To be opened once; shown this once.' }) })
  .meta({ id: 'NewInvitation' })
export type NewInvitation = z.infer<typeof NewInvitation>

const exampleInvitation = {
  id: exampleIds.task,
  email: 'grace@example.com',
  created_at: exampleTime,
  expires_at: '2026-11-28T07:13:05.120Z',
  accepted_at: null,
}

export const listInvitations = endpoint({
  method: 'GET',
  path: '/api/v1/users/invitations',
  summary: 'List invitations',
  description: 'For the owner of the server: who was invited, and who has come.',
  access: 'keys:admin',
  returns: z.array(Invitation),
  fails: ['insufficient_scope'],
  example: { returns: [exampleInvitation] },
})

export const createInvitation = endpoint({
  method: 'POST',
  path: '/api/v1/users/invitations',
  summary: 'Invite a person',
  description:
    'For the owner of the server. The answer has a one-time link, which is not shown again; it takes the place of an ' +
    'earlier link for the same address. Valid for seven days unless said.',
  access: 'keys:admin',
  body: z.object(
    described(
      { email: Email, expires_at: TimestampInput.nullable().default(null) },
      { expires_at: 'When the link ends; null: in seven days.' },
    ),
  ),
  returns: NewInvitation,
  status: 201,
  fails: ['insufficient_scope', 'state_conflict'],
  example: {
    body: { email: 'grace@example.com' },
    returns: { ...exampleInvitation, link: 'https://parley.example/join#one-time-token' },
  },
})

export const deleteInvitation = endpoint({
  method: 'DELETE',
  path: '/api/v1/users/invitations/{id}',
  summary: 'Withdraw an invitation',
  description: 'For the owner of the server: its link stops working.',
  access: 'keys:admin',
  params: z.object({ id: IdInput }),
  returns: z.object({ success: done }),
  fails: ['not_found', 'malformed_id', 'insufficient_scope'],
  example: { returns: { success: true } },
})

export const acceptInvitation = endpoint({
  method: 'POST',
  path: '/api/v1/users/invitations/accept',
  summary: 'Accept an invitation',
  description: 'With the token of the link: makes the account and signs the browser in.',
  access: 'open',
  body: z.object(
    described(
      { token: OneTimeToken, password: Password, name: line(1, 255).nullable().default(null) },
      { name: 'That others on this server see; null: none.' },
    ),
  ),
  returns: SignedIn,
  fails: ['gone', 'quota_exceeded'],
  example: {
    body: { token: 'one-time-token-of-the-link', password: 'correct horse battery' },
    returns: { user: { ...exampleUser, role: 'member' } },
  },
})
