import {
  acceptInvitation,
  changePerson,
  createInvitation,
  deleteInvitation,
  listInvitations,
  listPeople,
  removePerson,
} from '@parley/contract/people'
import {
  changePassword,
  claimOwner,
  endSession,
  finishSso,
  getMe,
  listSessions,
  signIn,
  signOut,
  startSso,
  updateMe,
} from '@parley/contract/users'
import type { CallAnswer } from '@parley/wire/serve'
import { atOnce, serve } from '@parley/wire/serve'
import { sessionCookie } from '../access/cookie.ts'
import type { Access } from '../access/service.ts'
import type { Invitations } from './invitations.ts'
import type { People } from './people.ts'
import type { NewSession, Users } from './service.ts'
import type { Redirect, Sso } from './sso.ts'

interface Parts {
  users: Users
  people: People
  sessions: Pick<Access, 'sessions' | 'endSession'>
  invitations: Invitations
  sso: Sso
  baseUrl: string
}

export const userRoutes = ({ users, people, sessions, invitations, sso, baseUrl }: Parts) => [
  serve(getMe, ({ who }) => users.me(who.owner)),
  atOnce(serve(updateMe, ({ who, body }) => users.updateMe(who.owner, body))),
  atOnce(
    serve(claimOwner, async ({ body, request, answer }) =>
      signedIn(answer, baseUrl, await users.claim(body, request.ip)),
    ),
  ),
  atOnce(
    serve(signIn, async ({ body, request, answer }) => signedIn(answer, baseUrl, await users.signIn(body, request.ip))),
  ),
  atOnce(
    serve(signOut, async ({ who, query, answer }) => {
      answer.header('set-cookie', sessionCookie(baseUrl, null, null))
      return users.signOut(who, query.everywhere)
    }),
  ),
  atOnce(serve(changePassword, ({ who, body, request }) => users.changePassword(who, body, request.ip))),
  serve(listPeople, ({ who }) => people.list(who.owner)),
  atOnce(serve(changePerson, ({ who, params, body }) => people.change(who.owner, params.id, body.role))),
  atOnce(serve(removePerson, ({ who, params }) => people.remove(who.owner, params.id))),
  serve(listSessions, ({ who }) => sessions.sessions(who)),
  atOnce(serve(endSession, ({ who, params }) => sessions.endSession(who.owner, params.id))),
  serve(listInvitations, ({ who }) => invitations.list(who.owner)),
  atOnce(serve(createInvitation, ({ who, body }) => invitations.create(who.owner, body))),
  atOnce(serve(deleteInvitation, ({ who, params }) => invitations.remove(who.owner, params.id))),
  atOnce(
    serve(acceptInvitation, async ({ body, request, answer }) =>
      signedIn(answer, baseUrl, await invitations.accept(body, request.ip)),
    ),
  ),
  serve(startSso, async ({ query, answer }) => redirected(answer, await sso.start(query.return_to))),
  atOnce(serve(finishSso, async ({ query, request, answer }) => redirected(answer, await sso.finish(query, request)))),
]

function signedIn(answer: CallAnswer, baseUrl: string, { user, token, expiresAt }: NewSession) {
  answer.header('set-cookie', sessionCookie(baseUrl, token, expiresAt))
  return { user }
}

function redirected(answer: CallAnswer, { location, cookies }: Redirect): string {
  for (const cookie of cookies) answer.header('set-cookie', cookie)
  answer.header('location', location)
  return ''
}
