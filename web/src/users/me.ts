import { queryOptions } from '@tanstack/react-query'
import { client } from '../api.ts'

/** Who is signed in; fails with `authentication_error` when nobody is. */
export const me = queryOptions({ queryKey: ['me'], queryFn: () => client.users.me(), staleTime: 60_000 })
