import { api } from '@parley/contract/api'
import type { AnyEndpoint, Endpoint } from '@parley/contract/endpoint'
import { type Arguments, type Caller, caller, type CallerOptions, type Input, type Output } from '@parley/wire/call'

/*
 * The table of the contract as methods: `client.secrets.create({ body })`. There is no second description of the service
 * here; an endpoint that joins the table is a method at once.
 */

type Method<E> =
  E extends Endpoint<infer P, infer Q, infer B, infer R, infer A>
    ? (...rest: Arguments<Input<P, Q, B>>) => Promise<Output<A, R>>
    : never

type Api = typeof api
export type Nouns = { readonly [N in keyof Api]: { readonly [V in keyof Api[N]]: Method<Api[N][V]> } }

/** Nouns with methods, and `call` for endpoints that are not in the table. */
export type Parley = Nouns & { readonly call: Caller }

/** A client of one server with one key. Methods reject with `Problem`. */
export function parley(options: CallerOptions): Parley {
  const call = caller(options)
  const invoke = call as unknown as (endpoint: AnyEndpoint, ...rest: unknown[]) => Promise<unknown>
  const methods = (endpoints: Readonly<Record<string, AnyEndpoint>>) =>
    Object.fromEntries(
      Object.entries(endpoints).map(([verb, endpoint]) => [verb, (...rest: unknown[]) => invoke(endpoint, ...rest)]),
    )
  const nouns = Object.fromEntries(Object.entries(api).map(([noun, endpoints]) => [noun, methods(endpoints)]))
  // Built by the same walk over the same table as the type.
  return { ...nouns, call } as unknown as Parley
}
