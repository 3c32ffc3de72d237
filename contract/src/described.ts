import type { z } from 'zod'

/** The same fields, each with what it is, for the readers of the documentation. */
export function described<S extends Record<string, z.ZodType>>(shape: S, says: Partial<Record<keyof S, string>>): S {
  const fields = Object.entries(shape).map(([name, field]) => {
    const description = says[name]
    return [name, description === undefined ? field : field.meta({ description })]
  })
  return Object.fromEntries(fields) as S
}
