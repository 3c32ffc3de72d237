import { changePassword, claimOwner, getMe, signIn, signOut, updateMe } from '@parley/contract/users'
import type { CallAnswer } from '@parley/wire/serve'
import { serve } from '@parley/wire/serve'
import { sessionCookie } from '../access/cookie.ts'
import type { NewSession, Users } from './service.ts'

export const userRoutes = (users: Users, baseUrl: string) => [
  serve(getMe, ({ who }) => users.me(who.owner)),
  serve(updateMe, ({ who, body }) => users.updateMe(who.owner, body)),
  serve(claimOwner, async ({ body, request, answer }) => signedIn(answer, baseUrl, await users.claim(body, request.ip))),
  serve(signIn, async ({ body, request, answer }) => signedIn(answer, baseUrl, await users.signIn(body, request.ip))),
  serve(signOut, async ({ who, query, answer }) => {
    answer.header('set-cookie', sessionCookie(baseUrl, null, null))
    return users.signOut(who, query.everywhere)
  }),
  serve(changePassword, ({ who, body }) => users.changePassword(who.owner, who.id, body)),
]

function signedIn(answer: CallAnswer, baseUrl: string, { user, token, expiresAt }: NewSession) {
  answer.header('set-cookie', sessionCookie(baseUrl, token, expiresAt))
  return { user }
}
