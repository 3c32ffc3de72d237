import { api } from '@parley/contract/api'
import type { AnyEndpoint } from '@parley/contract/endpoint'
import { openapi } from '@parley/wire/openapi'

/** The whole contract as OpenAPI 3.1. The same contract gives the same bytes. */

const description =
  'A self-hosted cloud for coding-agent conversations. Send your API key as `Authorization: Bearer …` or `X-Access-Token`. ' +
  'Errors are `application/problem+json`; their `code` is stable.'

export interface Noun {
  name: string
  endpoints: readonly AnyEndpoint[]
}

/** The calls by the noun that they are about, in the order of the contract. */
export const nouns = (): Noun[] =>
  Object.entries(api).map(([name, calls]) => ({ name, endpoints: Object.values(calls) as AnyEndpoint[] }))

export const document = () =>
  openapi({ title: 'Parley', version: '1', description, endpoints: nouns().flatMap(({ endpoints }) => endpoints) })

/** As it is served and checked in. */
export const documentText = (): string => `${JSON.stringify(document(), null, 2)}\n`
