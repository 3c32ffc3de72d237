import { z } from 'zod'

/** The same fields, each with what it is, for the readers of the documentation. */
export function described<S extends Record<string, z.ZodType>>(shape: S, says: Partial<Record<keyof S, string>>): S {
  const fields = Object.entries(shape).map(([name, field]) => {
    const description = says[name]
    return [name, description === undefined ? field : field.meta({ description })]
  })
  return Object.fromEntries(fields) as S
}

/** The word that tells which kind of object one is looking at. */
export const kindOf = <const K extends string>(name: K): z.ZodLiteral<K> =>
  z.literal(name).meta({ description: 'Tells what kind of object this is.' })

/** In an answer that has nothing else to say. */
export const done = z.literal(true).meta({ description: 'Always true: what fails is answered with a problem.' })
export const doneInWords = z.string().meta({ description: 'What was done, in words for people.' })
