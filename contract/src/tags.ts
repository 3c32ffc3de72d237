import { z } from 'zod'

/** Labels of a conversation. Keys are lower-case letters and digits. */
export const Tags = z.record(z.string(), z.string()).meta({ description: 'Labels: key to value.' })
export type Tags = z.infer<typeof Tags>

/** A label to look for: its key alone, or key and value as `team:parsers`. */
export const TagFilter = z
  .string()
  .max(321)
  .regex(/^[a-z0-9]{1,64}(:.{0,256})?$/s, 'must be a key, or a key, a colon and a value')

export const maxTags = 50

/** Labels in a request: at most 50; keys of `a-z0-9` up to 64 characters, values up to 256 characters. */
export const TagsInput = z
  .record(
    z
      .string()
      .max(64)
      .regex(/^[a-z0-9]+$/, 'must be lower-case letters and digits'),
    z.string().max(256),
  )
  .refine((tags) => Object.keys(tags).length <= maxTags, `must have at most ${maxTags} tags`)
