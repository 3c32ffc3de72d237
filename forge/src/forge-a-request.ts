import { request } from '@octokit/request'
import type { Endpoints } from '@octokit/types'
import type { Account } from './forge.ts'
import { asForgeError, forgeFetch } from './http.ts'

export type ForgeARequest = ReturnType<typeof forgeARequest>

const quiet = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined }

/** The account's address, token and fetch in one function of typed routes; rejects with `ForgeError`. */
export function forgeARequest(account: Account) {
  const { host, token, signal } = account
  const { hostname } = new URL(host)
  const api = request.defaults({
    baseUrl: hostname === 'github.com' ? 'https://api.github.com' : `${host}/api/v3`,
    headers: {
      accept: 'application/vnd.github+json',
      'x-github-api-version': '2022-11-28',
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
    },
    request: { fetch: forgeFetch(account), log: quiet },
  })
  return async <R extends keyof Endpoints>(route: R, parameters?: Endpoints[R]['parameters']) => {
    try {
      return (await api(route as string, parameters as Record<string, unknown>)) as Endpoints[R]['response']
    } catch (error) {
      throw asForgeError(error, signal)
    }
  }
}
