import {
  Branches,
  IssueNotes,
  Issues,
  MergeRequestDiscussions,
  MergeRequestNotes,
  MergeRequests,
  Projects,
  Users,
} from '@gitbeaker/core'
import { createRequesterFn } from '@gitbeaker/requester-utils'
import type { Account } from './forge.ts'
import { forgeFetch } from './http.ts'
import { parsed } from './rest.ts'

export type ForgeBResources = ReturnType<typeof forgeBResources>

/** The account's address, token and fetch behind the library's resources, one request at a time and never a second try. */
export function forgeBResources(account: Account) {
  const send = forgeFetch(account)
  const requesterFn = createRequesterFn(
    async (_, options) => options,
    async (endpoint, options) => {
      const { method, headers, body, prefixUrl, searchParams } = options as unknown as Sent // what `defaultOptionsHandler` of the library makes
      const url = `${prefixUrl.replace(/\/*$/, '/')}${endpoint}${searchParams ? `?${searchParams}` : ''}`
      const answer = await send(url, { method, headers, body: body ?? null })
      return { body: await parsed(answer), headers: Object.fromEntries(answer.headers), status: answer.status }
    },
  )
  const { host, token } = account
  const options = {
    host,
    requesterFn,
    queryTimeout: null,
    rateLimits: {},
    ...(token === null ? {} : { oauthToken: token }),
  }
  return {
    users: new Users(options),
    projects: new Projects(options),
    branches: new Branches(options),
    issues: new Issues(options),
    issueNotes: new IssueNotes(options),
    mergeRequests: new MergeRequests(options),
    mergeRequestNotes: new MergeRequestNotes(options),
    discussions: new MergeRequestDiscussions(options),
  }
}

interface Sent {
  method: string
  headers: Record<string, string>
  body?: string
  prefixUrl: string
  searchParams?: string
}
