import { z } from 'zod'
import { described, done } from './described.ts'
import { endpoint } from './endpoint.ts'
import { exampleIds, exampleTime } from './examples.ts'
import { Id, IdInput } from './id.ts'
import { QueryBoolean } from './page.ts'
import { line } from './text.ts'
import { Timestamp } from './time.ts'

export const UserRole = z
  .enum(['owner', 'member'])
  .meta({ id: 'UserRole', description: '`owner`: also manages people and the server; there is one.' })
export type UserRole = z.infer<typeof UserRole>

export const User = z
  .object(
    described(
      {
        id: Id,
        email: z.string().nullable(),
        name: z.string().nullable(),
        role: UserRole,
        has_password: z.boolean().meta({ description: 'False: signs in with an identity provider, or never yet.' }),
        created_at: Timestamp,
      },
      {
        email: 'Null for an account that was made without one.',
        name: 'That others on this server see; null: not said.',
      },
    ),
  )
  .meta({ id: 'User' })
export type User = z.infer<typeof User>

/** Lower case, so that one person is one account. */
export const Email = z
  .string()
  .trim()
  .toLowerCase()
  .max(254)
  .pipe(z.email())
  .meta({ description: 'An e-mail address; case does not matter.' })

/** Long enough to resist guessing; any characters; not longer than a hash should be asked to take. */
export const Password = z.string().min(12).max(256).meta({ description: 'Any characters, at least 12.' })

/** A token of a one-time link. */
export const OneTimeToken = z.string().min(16).max(256).meta({ description: 'Of the one-time link.' })

export const exampleUser = {
  id: exampleIds.user,
  email: 'ada@example.com',
  name: 'Ada',
  role: 'owner',
  has_password: true,
  created_at: exampleTime,
}
export const SignedIn = z.object({ user: User.meta({ description: 'Who is signed in now.' }) }).meta({ id: 'SignedIn' })
export type SignedIn = z.infer<typeof SignedIn>

export const getMe = endpoint({
  method: 'GET',
  path: '/api/v1/users/me',
  summary: 'Get the caller',
  description: 'The person whose key or browser session is asking.',
  access: 'user',
  returns: User,
  example: { returns: exampleUser },
})

export const ProfileUpdate = z
  .object({ name: line(1, 255).nullable().optional().meta({ description: 'Null takes it away.' }) })
  .meta({ id: 'ProfileUpdate' })
export type ProfileUpdate = z.infer<typeof ProfileUpdate>

export const updateMe = endpoint({
  method: 'PATCH',
  path: '/api/v1/users/me',
  summary: 'Change the caller\u2019s profile',
  description: 'Sets the name that others on this server see.',
  access: 'settings:write',
  body: ProfileUpdate,
  returns: User,
  example: { body: { name: 'Ada' }, returns: exampleUser },
})

export const OwnerClaim = z.object({ token: OneTimeToken, email: Email, password: Password }).meta({ id: 'OwnerClaim' })
export type OwnerClaim = z.infer<typeof OwnerClaim>

export const claimOwner = endpoint({
  method: 'POST',
  path: '/api/v1/users/claim',
  summary: 'Claim the owner\u2019s account',
  description: 'With the one-time link of the first start: sets e-mail and password and signs the browser in.',
  access: 'open',
  body: OwnerClaim,
  returns: SignedIn,
  fails: ['gone', 'state_conflict', 'quota_exceeded'],
  example: {
    body: { token: 'one-time-token-of-the-link', email: 'ada@example.com', password: 'correct horse battery' },
    returns: { user: exampleUser },
  },
})

export const signIn = endpoint({
  method: 'POST',
  path: '/api/v1/users/sign-in',
  summary: 'Sign in',
  description: 'Opens a browser session as a cookie that scripts cannot read.',
  access: 'open',
  body: z.object(described({ email: Email, password: z.string().min(1).max(256) }, { password: 'Of the account.' })),
  returns: SignedIn,
  fails: ['sign_in_failed', 'quota_exceeded', 'unavailable'],
  example: { body: { email: 'ada@example.com', password: 'correct horse battery' }, returns: { user: exampleUser } },
})

export const signOut = endpoint({
  method: 'POST',
  path: '/api/v1/users/sign-out',
  summary: 'Sign out',
  description: 'Ends this browser session, or all of the caller\u2019s sessions.',
  access: 'user',
  query: z.object({
    everywhere: QueryBoolean.default(false).meta({ description: 'Ends the sessions of all browsers.' }),
  }),
  returns: z.object({ success: done }),
  example: { returns: { success: true } },
})

export const changePassword = endpoint({
  method: 'POST',
  path: '/api/v1/users/password',
  summary: 'Change the password',
  description:
    'Asks for the old one and ends all other browser sessions. Who has signed in with an identity provider and has none ' +
    'yet sets a first one, in the browser, without `old_password`.',
  access: 'user',
  body: z.object(
    described(
      { old_password: z.string().min(1).max(256).nullable().default(null), new_password: Password },
      { old_password: 'Null for a first one, after signing in with an identity provider.' },
    ),
  ),
  returns: z.object({ success: done }),
  fails: ['sign_in_failed', 'quota_exceeded', 'unavailable'],
  example: {
    body: { old_password: 'correct horse battery', new_password: 'a longer and better one' },
    returns: { success: true },
  },
})

/** A browser that is signed in. `current`: the one that asks. */
export const BrowserSession = z
  .object(
    described(
      { id: Id, created_at: Timestamp, last_seen_at: Timestamp, expires_at: Timestamp, current: z.boolean() },
      { current: 'Whether it is the one that asks.' },
    ),
  )
  .meta({ id: 'BrowserSession' })
export type BrowserSession = z.infer<typeof BrowserSession>

export const listSessions = endpoint({
  method: 'GET',
  path: '/api/v1/users/sessions',
  summary: 'List browser sessions',
  description: 'Where the caller is signed in, the last used first.',
  access: 'keys:admin',
  returns: z.array(BrowserSession),
  example: {
    returns: [
      {
        id: exampleIds.task,
        created_at: exampleTime,
        last_seen_at: exampleTime,
        expires_at: '2026-12-21T07:13:05.120Z',
        current: true,
      },
    ],
  },
})

export const endSession = endpoint({
  method: 'DELETE',
  path: '/api/v1/users/sessions/{id}',
  summary: 'End a browser session',
  description: 'Signs that browser out at once.',
  access: 'keys:admin',
  params: z.object({ id: IdInput }),
  returns: z.object({ success: done }),
  fails: ['not_found', 'malformed_id'],
  example: { returns: { success: true } },
})

/** A path of the page, so that nobody is sent to another server after signing in. */
const ReturnTo = z
  .string()
  .max(2048)
  .regex(/^\/(?![/\\])[^\s\\]*$/)

export const startSso = endpoint({
  method: 'GET',
  path: '/api/v1/users/sso/start',
  summary: 'Sign in with the identity provider',
  description: 'Sends the browser to the OpenID Connect provider of the operator, which sends it back to the callback.',
  access: 'open',
  query: z.object({ return_to: ReturnTo.default('/').meta({ description: 'The page to come back to.' }) }),
  status: 303,
  answer: 'html',
  fails: ['not_found', 'upstream_error'],
})

export const finishSso = endpoint({
  method: 'GET',
  path: '/api/v1/users/sso/callback',
  summary: 'Come back from the identity provider',
  description:
    'Signs the browser in and sends it to the page; when that fails, to `/sign-in#error=…` with `sso_failed`, or ' +
    '`sso_not_allowed` for a person who has no account here.',
  access: 'open',
  query: z.looseObject({}),
  status: 303,
  answer: 'html',
  fails: ['not_found'],
})
